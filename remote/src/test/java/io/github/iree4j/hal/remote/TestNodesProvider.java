package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.DriverOptions;
import io.github.iree4j.hal.spi.DriverProvider;
import java.util.List;

/** Devices {@code test-nodes://2} of the nodes among the options, for runtimes. */
public final class TestNodesProvider implements DriverProvider {
    /** The nodes; the first opens the devices of the others. */
    record Nodes(List<RemoteNode> nodes) implements DriverOptions {}

    @Override
    public String name() {
        return "test-nodes";
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
        RemoteSession session =
                options.driver(new Nodes(List.of())).nodes().getFirst().session(Integer.parseInt(deviceId));
        return session.openDevice(session.devices().getFirst().id(), options);
    }
}
