package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.hal.spi.DeviceOptions;

/** Adapts the options of devices before they are opened. Beans of this type are applied in their order, after the properties. */
@FunctionalInterface
public interface IreeDeviceCustomizer {

    /**
     * Changes the options of one device.
     *
     * @param name the device's name in {@code iree.devices}
     * @param options what it will be opened with; its memory is adapted by {@link IreePoolCustomizer} afterwards
     */
    void customize(String name, DeviceOptions.Builder options);
}
