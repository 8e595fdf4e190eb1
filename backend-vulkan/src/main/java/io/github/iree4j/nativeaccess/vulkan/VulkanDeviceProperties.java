package io.github.iree4j.nativeaccess.vulkan;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * The properties of a Vulkan device, available before the device is opened.
 *
 * @param index the index in the list of devices
 * @param name the driver's name for the device
 * @param type the kind of device
 * @param vendorId vendor number, usually the PCI vendor ID
 * @param deviceId the vendor's number for the device
 * @param apiVersion Vulkan version, packed
 * @param driverVersion driver version, packed as the driver chooses
 * @param driverName for example {@code llvmpipe}; empty before Vulkan 1.2
 * @param driverInfo the driver's version as text; empty before Vulkan 1.2
 * @param deviceUuid 32 hexadecimal digits, the same in every process; zeros before Vulkan 1.2
 * @param pipelineCacheUuid 32 hexadecimal digits identifying the format of compiled pipelines
 * @param limits the device's limits
 * @param features bits of {@link VulkanFeature}
 * @param heaps memory heaps, by index
 * @param memoryTypes memory types, by index
 * @param queueFamilies queue families, by index
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

    /** The kinds of devices, in Vulkan's numbering. */
    public enum Type {
        /** None of the following. */
        OTHER,
        /** Shares the host's memory. */
        INTEGRATED_GPU,
        /** Has separate memory. */
        DISCRETE_GPU,
        /** A GPU of a virtual machine. */
        VIRTUAL_GPU,
        /** Software. */
        CPU
    }

    /**
     * A memory heap.
     *
     * @param size bytes
     * @param deviceLocal whether the heap is device-local
     */
    public record MemoryHeap(long size, boolean deviceLocal) {}

    /**
     * A memory type.
     *
     * @param flags property flags with Vulkan's numbers: {@link #DEVICE_LOCAL} and so on
     * @param heap index of the type's heap
     */
    public record MemoryType(int flags, int heap) {
        /**
         * Returns whether the type has all given properties.
         *
         * @param wanted flags, or-ed
         * @return true if no property is missing
         */
        public boolean has(int wanted) {
            return (flags & wanted) == wanted;
        }
    }

    /**
     * A queue family.
     *
     * @param flags capabilities, in Vulkan's numbering: 1 graphics, 2 compute, 4 transfer
     * @param queueCount number of queues
     */
    public record QueueFamily(int flags, int queueCount) {
        /**
         * Returns whether the family's queues run dispatches.
         *
         * @return whether the compute flag is set
         */
        public boolean computes() {
            return (flags & 2) != 0;
        }

        /**
         * Returns whether the family's queues support transfers.
         *
         * @return whether the transfer flag or a flag implying transfers is set
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
     * @return whether the feature can be enabled
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

        /** An unsigned number, saturated to Java's range. */
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
