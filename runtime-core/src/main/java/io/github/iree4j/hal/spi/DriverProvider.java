package io.github.iree4j.hal.spi;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.status.IreeException;
import java.util.List;

/** A kind of device that this machine may have. Implementations have a public constructor without arguments that does nothing costly. */
public interface DriverProvider {

    /**
     * Returns the driver's name.
     *
     * @return for example {@code local}
     */
    String name();

    /**
     * Returns whether the driver works on this machine. Probed once, at the first call.
     *
     * @return the availability, with the reason if it does not
     */
    Availability availability();

    /**
     * Lists the devices that are present.
     *
     * @return the devices; empty when the driver is not available
     */
    List<DeviceInfo> devices();

    /**
     * Returns whether the devices belong to other machines, which may not be there yet and may be gone at any time. A runtime opens such a device
     * when a program that names it is loaded, and again for the next one after it was lost; programs that name no devices do not see it.
     *
     * @return false unless overridden
     */
    default boolean isRemote() {
        return false;
    }

    /**
     * Opens a device.
     *
     * @param deviceId one of the ids of {@link #devices()}, or the driver's name for the first
     * @param options how to open it
     * @return the device; the caller closes it
     * @throws IreeException NOT_FOUND when there is no such device, UNAVAILABLE when the driver does not work here
     */
    Device open(String deviceId, DeviceOptions options);
}
