package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.hal.spi.DeviceOptions;

/**
 * Adapts the memory of devices before they are opened. Beans of this type are applied in their order, after the properties and every
 * {@link IreeDeviceCustomizer}.
 */
@FunctionalInterface
public interface IreePoolCustomizer {

    /**
     * Changes limits, quotas and what is kept of one device's memory.
     *
     * @param device the device's name, which is that of its pools in {@code iree.pools}
     * @param options what it will be opened with
     */
    void customize(String device, DeviceOptions.Builder options);
}
