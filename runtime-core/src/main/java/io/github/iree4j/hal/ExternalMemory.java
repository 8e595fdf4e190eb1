package io.github.iree4j.hal;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Objects;

/**
 * Memory of a device as others may use it: other processes, devices and APIs. Made by {@link Allocator#exportMemory}.
 *
 * @param descriptor number of a descriptor of the operating system in this process; whoever has it gives it to
 *     {@link Allocator#importMemory}, to another process, or to {@link Allocator#discard}
 * @param size bytes of all the memory
 * @param kind the driver's number of its kind, which whoever imports it must know
 * @param device the device, as its driver names it in every process: drivers take memory of the same device only
 */
public record ExternalMemory(int descriptor, long size, int kind, String device) {
    /** Checks. */
    public ExternalMemory {
        Objects.requireNonNull(device, "device");
        if (descriptor < 0 || size <= 0 || kind < 0) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "external memory with descriptor %d, %d bytes and kind %d cannot be"
                            .formatted(descriptor, size, kind));
        }
    }
}
