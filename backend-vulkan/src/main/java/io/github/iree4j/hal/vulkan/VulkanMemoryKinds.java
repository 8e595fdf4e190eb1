package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.stream.MemoryKind;
import io.github.iree4j.hal.stream.MemoryKinds;
import io.github.iree4j.nativeaccess.vulkan.VulkanDeviceProperties;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/** Chooses among the memory types of a driver. */
final class VulkanMemoryKinds {
    // VkMemoryPropertyFlagBits
    private static final int DEVICE_LOCAL = 0x1;
    private static final int HOST_VISIBLE = 0x2;
    private static final int HOST_COHERENT = 0x4;
    private static final int HOST_CACHED = 0x8;
    private static final int MAPPABLE = HOST_VISIBLE | HOST_COHERENT;
    private static final int KNOWN = DEVICE_LOCAL | HOST_VISIBLE | HOST_COHERENT | HOST_CACHED;

    private VulkanMemoryKinds() {}

    /** Chooses among the types of a device. Every driver has a device-local type and a host-visible type. */
    static MemoryKinds choose(VulkanDeviceProperties properties) {
        MemoryKind device = best(
                properties, "device", flags -> (flags & DEVICE_LOCAL) == 0 ? 1 : 4 - ((flags & MAPPABLE) != 0 ? 1 : 0));
        MemoryKind upload = best(
                properties,
                "upload",
                flags -> (flags & MAPPABLE) != MAPPABLE
                        ? 0
                        : 1 + ((flags & DEVICE_LOCAL) == 0 ? 2 : 0) + ((flags & HOST_CACHED) == 0 ? 1 : 0));
        MemoryKind readback = best(
                properties,
                "readback",
                flags -> (flags & MAPPABLE) != MAPPABLE
                        ? 0
                        : 1 + ((flags & HOST_CACHED) != 0 ? 2 : 0) + ((flags & DEVICE_LOCAL) == 0 ? 1 : 0));
        int both = DEVICE_LOCAL | MAPPABLE;
        MemoryKind shared = find(
                properties, "shared", flags -> (flags & both) != both ? 0 : 1 + ((flags & HOST_CACHED) != 0 ? 1 : 0));
        if (shared != null && device.isMappable()) {
            shared = device;
        }
        return new MemoryKinds(
                device,
                shared,
                upload.type() == device.type() ? device : upload,
                readback.type() == device.type() ? device : readback.type() == upload.type() ? upload : readback);
    }

    private static MemoryKind best(VulkanDeviceProperties properties, String name, IntUnaryOperator score) {
        MemoryKind found = find(properties, name, score);
        if (found == null) {
            throw IreeException.of(
                    StatusCode.UNAVAILABLE,
                    "device '%s' has no memory for '%s' among its %d types"
                            .formatted(
                                    properties.name(),
                                    name,
                                    properties.memoryTypes().size()));
        }
        return found;
    }

    /** Returns the type with the highest score above 0, the first among equals: drivers list better types first. */
    private static @Nullable MemoryKind find(VulkanDeviceProperties properties, String name, IntUnaryOperator score) {
        int found = -1;
        int best = 0;
        for (int i = 0; i < properties.memoryTypes().size(); i++) {
            int flags = properties.memoryTypes().get(i).flags();
            if ((flags & ~KNOWN) != 0) {
                continue; // protected, lazily allocated, or deliberately slow
            }
            int points = score.applyAsInt(flags);
            if (points > best) {
                best = points;
                found = i;
            }
        }
        if (found < 0) {
            return null;
        }
        int heap = properties.memoryTypes().get(found).heap();
        return new MemoryKind(
                name,
                found,
                heap,
                properties.heaps().get(heap).size(),
                halType(
                        properties.memoryTypes().get(found).flags(),
                        properties.heaps().size() == 1));
    }

    /** Returns the HAL type of a driver's memory type; with a single heap, device memory is host memory. */
    private static int halType(int flags, boolean oneHeap) {
        boolean mappable = (flags & MAPPABLE) == MAPPABLE;
        boolean hosts = (flags & DEVICE_LOCAL) == 0 || oneHeap;
        return ((flags & DEVICE_LOCAL) != 0 ? MemoryType.DEVICE_LOCAL : MemoryType.DEVICE_VISIBLE)
                | (mappable ? MemoryType.HOST_VISIBLE | MemoryType.HOST_COHERENT : 0)
                | (mappable && (flags & HOST_CACHED) != 0 ? MemoryType.HOST_CACHED : 0)
                | (mappable && hosts ? MemoryType.HOST_LOCAL : 0);
    }
}
