package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.stream.DriverMemory;
import io.github.iree4j.hal.stream.HostRegistrations;
import io.github.iree4j.nativeaccess.gpu.GpuDevice;
import io.github.iree4j.nativeaccess.gpu.GpuDevice.HostMemory;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.function.Consumer;

/** An allocation, keeping the device open. */
final class GpuMemory extends DriverMemory {
    private final GpuDevice device;
    private final Consumer<GpuDevice> free;

    private GpuMemory(GpuDevice device, long address, long host, Consumer<GpuDevice> free) {
        super(address, address, host);
        this.device = device;
        this.free = free;
        device.retain();
    }

    /** Allocates memory of the device, visible to the host only if managed. */
    static GpuMemory ofDevice(GpuDevice device, long size, boolean managed) {
        long address = device.allocateMemory(size, managed);
        return new GpuMemory(device, address, managed ? address : 0, on -> on.freeMemory(address, managed));
    }

    /** Allocates pinned memory of the host. */
    static GpuMemory ofHost(GpuDevice device, long size) {
        HostMemory made = device.allocateHostMemory(size);
        return new GpuMemory(device, made.address(), made.host(), on -> on.freeHostMemory(made.host()));
    }

    /** Wraps memory of the device owned by others. */
    static GpuMemory ofOthers(GpuDevice device, long address, long size) {
        device.checkMemory(address, size);
        return new GpuMemory(device, address, 0, _ -> {});
    }

    /** Registers memory of the host owned by others. */
    static GpuMemory registered(
            GpuDevice device, HostRegistrations registrations, long host, long size, boolean readOnly) {
        HostRegistrations.Import made = registrations.register(
                new HostRegistrations.Registrar() {
                    @Override
                    public long register(long first, long bytes, boolean onlyRead) {
                        long address = pinned(device, first, bytes, onlyRead);
                        device.retain();
                        return address;
                    }

                    @Override
                    public void unregister(long first) {
                        device.unregisterHostMemory(first);
                        device.release();
                    }
                },
                host,
                size,
                readOnly);
        return new GpuMemory(device, made.address(), host, _ -> made.close());
    }

    private static long pinned(GpuDevice device, long first, long size, boolean readOnly) {
        try {
            return device.registerHostMemory(first, size, readOnly);
        } catch (IreeException e) {
            if (e.code() != StatusCode.INVALID_ARGUMENT) {
                throw e;
            }
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "%d bytes of the host at 0x%x cannot be %s in place: %s, as drivers do for pages that are read-only or of a file; copy the bytes"
                            .formatted(size, first, readOnly ? "read" : "written", e.getMessage()),
                    e);
        }
    }

    @Override
    public void close() {
        KnownGraphs.freeing();
        free.accept(device);
        device.release();
    }
}
