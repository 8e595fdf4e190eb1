package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.hal.spi.DeviceOptions;

/**
 * Callback customizing the options of devices before opening. Beans of this type are applied in their order, after the
 * properties.
 */
@FunctionalInterface
public interface IreeDeviceCustomizer {

    /**
     * Customizes the options of a device.
     *
     * @param name the device's name in {@code iree.devices}
     * @param options the options for opening the device, limits, quotas and trimming of its memory among them
     */
    void customize(String name, DeviceOptions.Builder options);
}
