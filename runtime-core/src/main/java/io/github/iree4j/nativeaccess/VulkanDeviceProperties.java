package io.github.iree4j.nativeaccess;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * What can be known of a Vulkan device without opening it.
 *
 * @param index its number in this list of devices
 * @param name the driver's name for it
 * @param type what it is made of
 * @param vendorId number of its maker, mostly the PCI one
 * @param deviceId number among that maker's
 * @param apiVersion Vulkan version, packed
 * @param driverVersion in the driver's own packing
 * @param driverName for example {@code llvmpipe}; empty before Vulkan 1.2
 * @param driverInfo the driver's version as text; empty before Vulkan 1.2
 * @param deviceUuid 32 hexadecimal digits, the same in every process; zeros before Vulkan 1.2
 * @param pipelineCacheUuid 32 hexadecimal digits that change with what compiled pipelines depend on
 * @param limits its limits
 * @param features bits of {@link VulkanFeature}
 * @param heaps its memories
 * @param memoryTypes how they can be used, by index
 * @param queueFamilies its queues, by index
 */
public record VulkanDeviceProperties(
        int index,
        String name,
        Type type,
        int vendorId,
        int deviceId,
        int apiVersion,
        int driverVersion,
        String driverName,
        String driverInfo,
        String deviceUuid,
        String pipelineCacheUuid,
        VulkanLimits limits,
        long features,
        List<MemoryHeap> heaps,
        List<MemoryType> memoryTypes,
        List<QueueFamily> queueFamilies) {

    /** Device-local memory. */
    public static final int DEVICE_LOCAL = 1;
    /** Memory the host can map. */
    public static final int HOST_VISIBLE = 2;
    /** Host and device see each other's writes without flushing. */
    public static final int HOST_COHERENT = 4;
    /** Memory the host caches. */
    public static final int HOST_CACHED = 8;

    private static final int MAX_HEAPS = 16;
    private static final int MAX_TYPES = 32;
    private static final int MAX_FAMILIES = 16;
    private static final int TEXT_SIZE = 256;

    /** What a device is made of, numbered as Vulkan does. */
    public enum Type {
        /** Nothing of what follows. */
        OTHER,
        /** Shares the host's memory. */
        INTEGRATED_GPU,
        /** Has its own memory. */
        DISCRETE_GPU,
        /** Part of a virtual machine. */
        VIRTUAL_GPU,
        /** Software. */
        CPU
    }

    /**
     * A memory.
     *
     * @param size bytes
     * @param deviceLocal whether it is the device's own
     */
    public record MemoryHeap(long size, boolean deviceLocal) {}

    /**
     * A way to use a memory.
     *
     * @param flags property flags as Vulkan numbers them: {@link #DEVICE_LOCAL} and so on
     * @param heap index of its heap
     */
    public record MemoryType(int flags, int heap) {
        /**
         * Returns whether it has all of some properties.
         *
         * @param wanted flags, or-ed
         * @return whether none is missing
         */
        public boolean has(int wanted) {
            return (flags & wanted) == wanted;
        }
    }

    /**
     * Queues of one kind.
     *
     * @param flags what they can do, as Vulkan numbers it: 1 graphics, 2 compute, 4 transfer
     * @param queueCount how many there are
     */
    public record QueueFamily(int flags, int queueCount) {
        /**
         * Returns whether its queues run dispatches.
         *
         * @return whether it has the compute flag
         */
        public boolean computes() {
            return (flags & 2) != 0;
        }

        /**
         * Returns whether its queues copy and fill.
         *
         * @return whether it has the transfer flag or one that implies it
         */
        public boolean transfers() {
            return (flags & 7) != 0;
        }
    }

    /** Copies the lists. */
    public VulkanDeviceProperties {
        heaps = List.copyOf(heaps);
        memoryTypes = List.copyOf(memoryTypes);
        queueFamilies = List.copyOf(queueFamilies);
    }

    /**
     * Returns whether the device has a feature.
     *
     * @param feature the feature
     * @return whether it can be enabled
     */
    public boolean has(VulkanFeature feature) {
        return feature.in(features);
    }

    /**
     * Returns the Vulkan version as text.
     *
     * @return for example {@code 1.3.230}
     */
    public String apiVersionText() {
        return (apiVersion >>> 22 & 0x7f) + "." + (apiVersion >>> 12 & 0x3ff) + "." + (apiVersion & 0xfff);
    }

    /** Reads {@code shim_vulkan_device_info_t}. */
    static VulkanDeviceProperties read(int index, MemorySegment info) {
        Words words = new Words(info);
        long type = words.next();
        int vendorId = (int) words.next();
        int deviceId = (int) words.next();
        int apiVersion = (int) words.next();
        int driverVersion = (int) words.next();
        String deviceUuid = words.uuid();
        String pipelineCacheUuid = words.uuid();
        long features = words.next();
        VulkanLimits limits = limits(words);
        List<MemoryHeap> heaps = new ArrayList<>();
        words.pairs(MAX_HEAPS, (size, flags) -> heaps.add(new MemoryHeap(size, (flags & DEVICE_LOCAL) != 0)));
        List<MemoryType> types = new ArrayList<>();
        words.pairs(MAX_TYPES, (flags, heap) -> types.add(new MemoryType((int) flags, (int) heap)));
        List<QueueFamily> families = new ArrayList<>();
        words.pairs(MAX_FAMILIES, (flags, count) -> families.add(new QueueFamily((int) flags, (int) count)));
        Type[] all = Type.values();
        return new VulkanDeviceProperties(
                index,
                words.text(),
                type > 0 && type < all.length ? all[(int) type] : Type.OTHER,
                vendorId,
                deviceId,
                apiVersion,
                driverVersion,
                words.text(),
                words.text(),
                deviceUuid,
                pipelineCacheUuid,
                limits,
                features,
                heaps,
                types,
                families);
    }

    private static VulkanLimits limits(Words words) {
        return new VulkanLimits(
                words.limit(),
                words.limit(),
                words.limit(),
                words.intLimit(),
                words.intLimit(),
                words.intLimit(),
                words.limit(),
                words.limit(),
                words.limit(),
                words.limit(),
                words.limit(),
                words.limit(),
                words.intLimit(),
                words.limit(),
                words.limit(),
                words.limit(),
                words.limit(),
                words.intLimit(),
                words.intLimit(),
                words.intLimit(),
                words.intLimit(),
                words.limit(),
                words.limit());
    }

    private interface PairConsumer {
        void accept(long first, long second);
    }

    /** Reads the struct from front to back. */
    private static final class Words {
        private final MemorySegment info;
        private long at;

        Words(MemorySegment info) {
            this.info = info;
        }

        long next() {
            long word = info.get(ValueLayout.JAVA_LONG, at);
            at += Long.BYTES;
            return word;
        }

        /** What Java can say of an unsigned number. */
        long limit() {
            long limit = next();
            return limit < 0 ? Long.MAX_VALUE : limit;
        }

        int intLimit() {
            return (int) Math.min(Integer.MAX_VALUE, limit());
        }

        String uuid() {
            byte[] bytes = info.asSlice(at, 16).toArray(ValueLayout.JAVA_BYTE);
            at += 16;
            return HexFormat.of().formatHex(bytes);
        }

        void pairs(int capacity, PairConsumer consumer) {
            long count = next();
            long end = at + capacity * 2L * Long.BYTES;
            for (long i = 0; i < count; i++) {
                consumer.accept(next(), next());
            }
            at = end;
        }

        String text() {
            byte[] bytes = info.asSlice(at, TEXT_SIZE).toArray(ValueLayout.JAVA_BYTE);
            at += TEXT_SIZE;
            int length = 0;
            while (length < bytes.length && bytes[length] != 0) {
                length++;
            }
            return new String(bytes, 0, length, StandardCharsets.UTF_8);
        }
    }
}
