package io.github.iree4j.cluster;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.DriverProvider;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;

/** Devices of other nodes, as {@code cluster://node/device}; opened with {@link ClusterDevices} among the options. */
@NotForApplications
public final class ClusterDriverProvider implements DriverProvider {
    /** For the service loader. */
    public ClusterDriverProvider() {}

    @Override
    public String name() {
        return DeviceAddress.DRIVER;
    }

    @Override
    public Availability availability() {
        return Availability.AVAILABLE;
    }

    @Override
    public List<DeviceInfo> devices() {
        return List.of();
    }

    @Override
    public boolean isRemote() {
        return true;
    }

    @Override
    public Device open(String deviceId, DeviceOptions options) {
        DeviceAddress address = DeviceAddress.parse(deviceId.equals(name()) ? "" : deviceId);
        ClusterDevices devices = options.driver(ClusterDevices.NONE);
        if (devices.equals(ClusterDevices.NONE)) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "device '%s' belongs to another node, and this process is no node of a cluster; set iree.cluster.enabled=true, or give the device options with ClusterDevices"
                            .formatted(address),
                    null,
                    new WrongAddress(
                            address.toString(),
                            "Set 'iree.cluster.enabled=true', and the other properties of 'iree.cluster' as on the other nodes. Or name a device of this machine, such as 'local', in place of '%s' in 'iree.devices'."
                                    .formatted(address)));
        }
        return devices.open(address, options);
    }
}
