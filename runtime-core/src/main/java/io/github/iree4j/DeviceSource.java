package io.github.iree4j;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.hal.spi.DeviceOptions;

/**
 * A device to be opened by a runtime.
 *
 * @param name the device's name for programs and users, unique in the runtime
 * @param uri the device to open: a driver's name ({@code local}) or {@code driver://id}
 * @param options the device's options; without an executor the device shares the workers of the runtime
 */
@NotForApplications
public record DeviceSource(String name, String uri, DeviceOptions options) {
    /**
     * Returns a device named after its URI, with default options.
     *
     * @param uri a driver's name or {@code driver://id}
     * @return the source
     */
    public static DeviceSource of(String uri) {
        return new DeviceSource(uri, uri, DeviceOptions.DEFAULTS);
    }
}
