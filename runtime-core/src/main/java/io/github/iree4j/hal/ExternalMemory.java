package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Objects;

/**
 * Device memory exported to other processes, devices and APIs. Created by {@link Allocator#exportMemory}.
 *
 * @param descriptor an operating system descriptor in this process; its owner passes it to
 *     {@link Allocator#importMemory}, to another process, or to {@link Allocator#discard}
 * @param size bytes of all the memory
 * @param kind the driver's number for the kind of memory, required by the importer
 * @param device the device, as named by the driver in every process: drivers import memory of the same device only
 */
@NotForApplications
public record ExternalMemory(int descriptor, long size, int kind, String device) {
    /** Checks. */
    public ExternalMemory {
        Objects.requireNonNull(device, "device");
        if (descriptor < 0 || size <= 0 || kind < 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "external memory with descriptor %d, %d bytes and kind %d is not valid"
                            .formatted(descriptor, size, kind));
        }
    }
}
