package io.github.iree4j.hal.spi;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Services;
import java.util.List;

/** A kind of device of this machine, possibly absent. Implementations have a public constructor without arguments and without costly work. */
@NotForApplications
public interface DriverProvider {
    /**
     * Returns the installed drivers, whether or not the drivers work on this machine.
     *
     * @return the drivers found through the service loader, in no particular order
     */
    static List<DriverProvider> installed() {
        return Services.of(DriverProvider.class);
    }

    /**
     * Returns the driver's name.
     *
     * @return for example {@code local}
     */
    String name();

    /**
     * Returns other names of the driver in properties and on the command line, such as names in other releases of IREE.
     *
     * @return none unless overridden
     */
    default List<String> aliases() {
        return List.of();
    }

    /**
     * Returns whether a name is the name or an alias of the driver.
     *
     * @param name a name in a property or on the command line
     * @return whether the driver is meant
     */
    default boolean isNamed(String name) {
        return name().equals(name) || aliases().contains(name);
    }

    /**
     * Returns whether the driver works on this machine. Probed once, at the first call.
     *
     * @return the availability, with the reason for an unavailable driver
     */
    Availability availability();

    /**
     * Lists the present devices.
     *
     * @return the devices; empty when the driver is not available
     */
    List<DeviceInfo> devices();

    /**
     * Returns whether the devices belong to other machines, possibly not present yet or gone at any time. A runtime
     * opens such a device when a program naming the device is loaded, and again for the next such program after a loss;
     * programs without named devices do not see such a device.
     *
     * @return false unless overridden
     */
    default boolean isRemote() {
        return false;
    }

    /**
     * Opens a device.
     *
     * @param deviceId an id of {@link #devices()}, or the driver's name for the first device
     * @param options options of the device
     * @return the device; the caller closes it
     * @throws IreeException NOT_FOUND when no such device exists, UNAVAILABLE when the driver does not work here
     */
    Device open(String deviceId, DeviceOptions options);
}
