package io.github.iree4j.spring.test;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.DriverProvider;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Opens virtual devices: {@code virtual}, with a separate clock, and devices prepared by tests, by id. */
@NotForApplications
public final class VirtualDriverProvider implements DriverProvider {

    private static final Map<String, FakeHardware> PREPARED = new ConcurrentHashMap<>();

    /** For the service loader. */
    public VirtualDriverProvider() {}

    /** Prepares a device, to be opened once as {@code virtual://id}. */
    static void prepare(String id, FakeHardware hardware) {
        PREPARED.put(id, hardware);
    }

    @Override
    public String name() {
        return "virtual";
    }

    @Override
    public Availability availability() {
        return Availability.AVAILABLE;
    }

    @Override
    public List<DeviceInfo> devices() {
        return List.of(new DeviceInfo("virtual", "virtual", "device on a virtual clock"));
    }

    @Override
    public Device open(String deviceId, DeviceOptions options) {
        FakeHardware prepared = PREPARED.remove(deviceId);
        FakeHardware hardware = prepared == null ? new FakeHardware(VirtualClock.automatic()) : prepared;
        VirtualDevice device = VirtualDevice.builder()
                .id(deviceId)
                .clock(hardware.clock())
                .script(hardware)
                .fifoQueues(2)
                .memoryLimit(options.memoryLimit())
                .build();
        hardware.opened(device);
        return device;
    }
}
