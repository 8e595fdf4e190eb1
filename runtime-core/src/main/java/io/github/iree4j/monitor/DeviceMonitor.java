package io.github.iree4j.monitor;

import io.github.iree4j.hal.Device;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** The devices of a runtime by name, including devices of other machines that are not open. Any thread may use a monitor. */
public interface DeviceMonitor {
    /**
     * Returns the names of all devices, open or not.
     *
     * @return the names: first of devices of this machine, then of other machines, each in the order of the runtime's
     *     builder
     */
    List<String> names();

    /**
     * Returns whether a device belongs to another machine: the result of
     * {@link io.github.iree4j.hal.spi.DriverProvider#isRemote} of the device's driver.
     *
     * @param name the device's name
     * @return false also when there is no such device
     */
    boolean isRemote(String name);

    /**
     * Returns the device with a name, if the device is open. Does not block.
     *
     * @param name the device's name, or the device's id
     * @return borrowed, perhaps lost; empty when there is no such device
     */
    Optional<Device> find(String name);

    /**
     * Returns the name of a device.
     *
     * @param device a device of the runtime
     * @return the device's name, also for a lost and replaced device; the id of a device of another runtime
     */
    String nameOf(Device device);

    /**
     * Reports devices to a listener: now the open devices, and later each device of another machine when opened, also
     * as a replacement of a lost device. A device opened during this call may be reported twice.
     *
     * @param listener called on the thread that opens the device; must not block
     */
    void watch(Consumer<? super Device> listener);
}
