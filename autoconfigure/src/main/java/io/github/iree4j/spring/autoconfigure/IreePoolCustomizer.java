package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.hal.spi.DeviceOptions;

/**
 * Callback that customizes the memory of devices before they are opened. Beans of this type are applied in their order,
 * after the properties and every {@link IreeDeviceCustomizer}.
 */
@FunctionalInterface
public interface IreePoolCustomizer {

    /**
     * Customizes limits, quotas and trimming of one device's memory.
     *
     * @param device the device's name, as in {@code iree.pools}
     * @param options the options it will be opened with
     */
    void customize(String device, DeviceOptions.Builder options);
}
