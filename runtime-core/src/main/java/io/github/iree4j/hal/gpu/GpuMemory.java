package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.stream.DriverMemory;
import io.github.iree4j.nativeaccess.GpuDevice;
import io.github.iree4j.nativeaccess.GpuDevice.HostMemory;
import java.util.function.Consumer;

/** An allocation, which keeps the device open. */
final class GpuMemory extends DriverMemory {
    private final GpuDevice device;
    private final Consumer<GpuDevice> free;

    private GpuMemory(GpuDevice device, long address, long host, Consumer<GpuDevice> free) {
        super(address, address, host);
        this.device = device;
        this.free = free;
        device.retain();
    }

    /** Memory of the device, which the host does not see. */
    static GpuMemory ofDevice(GpuDevice device, long size) {
        long address = device.allocateMemory(size);
        return new GpuMemory(device, address, 0, on -> on.freeMemory(address));
    }

    /** Pinned memory of the host. */
    static GpuMemory ofHost(GpuDevice device, long size) {
        HostMemory made = device.allocateHostMemory(size);
        return new GpuMemory(device, made.address(), made.host(), on -> on.freeHostMemory(made.host()));
    }

    /** Memory of the host that others own. */
    static GpuMemory registered(GpuDevice device, GpuRegistrations registrations, long host, long size) {
        GpuRegistrations.Import made = registrations.register(device, host, size);
        return new GpuMemory(device, made.address(), host, _ -> made.close());
    }

    @Override
    public void close() {
        free.accept(device);
        device.release();
    }
}
