package io.github.iree4j;

import io.github.iree4j.hal.spi.DeviceOptions;

/**
 * A device that a runtime opens.
 *
 * @param name what programs and people call it, unique in the runtime
 * @param uri what to open: a driver's name ({@code local}) or {@code driver://id}
 * @param options how to open it; without an executor it shares the workers of the runtime
 */
public record DeviceSource(String name, String uri, DeviceOptions options) {
    /**
     * A device that is called what it is opened by, with default options.
     *
     * @param uri a driver's name or {@code driver://id}
     * @return the source
     */
    public static DeviceSource of(String uri) {
        return new DeviceSource(uri, uri, DeviceOptions.DEFAULT);
    }
}
