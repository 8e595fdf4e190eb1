package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.hal.spi.DeviceOptions;

/**
 * Callback that customizes the options of devices before they are opened. Beans of this type are applied in their
 * order, after the properties.
 */
@FunctionalInterface
public interface IreeDeviceCustomizer {

    /**
     * Customizes the options of one device.
     *
     * @param name the device's name in {@code iree.devices}
     * @param options the options it will be opened with; {@link IreePoolCustomizer} is applied to its memory afterwards
     */
    void customize(String name, DeviceOptions.Builder options);
}
