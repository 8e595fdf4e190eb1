package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.hal.spi.DeviceOptions;

/**
 * Callback customizing the memory of devices before opening. Beans of this type are applied in their order, after the
 * properties and every {@link IreeDeviceCustomizer}.
 */
@FunctionalInterface
@NotForApplications
public interface IreePoolCustomizer {

    /**
     * Customizes limits, quotas and trimming of a device's memory.
     *
     * @param device the device's name, as in {@code iree.pools}
     * @param options the options for opening the device
     */
    void customize(String device, DeviceOptions.Builder options);
}
