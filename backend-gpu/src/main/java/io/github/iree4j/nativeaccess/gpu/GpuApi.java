package io.github.iree4j.nativeaccess.gpu;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.nativeaccess.NativeError;
import io.github.iree4j.nativeaccess.NativeLibrary;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The driver library of CUDA or HIP, and the devices found at opening. Safe from any thread. Open devices hold a reference to the library. */
public final class GpuApi extends Resource {
    private final GpuKind kind;
    private final long handle;
    private final List<GpuProperties> devices;

    private GpuApi(GpuKind kind, long handle) {
        this.kind = kind;
        this.handle = handle;
        this.devices = readDevices(handle);
    }

    /**
     * Opens a library and enumerates the devices.
     *
     * @param kind the kind of the library's interface
     * @param library file or name of the library; null for the library named by a property or the environment,
     *     {@link GpuKind#library}, or else the usual library
     * @return the library; the caller closes it. Having no devices is not a failure
     * @throws IreeException UNAVAILABLE when there is no such library, naming the library; when a symbol is missing,
     *     naming the symbol; when the driver does not start; or without the native library of this runtime
     */
    public static GpuApi open(GpuKind kind, @Nullable String library) {
        NativeLibrary.bind(GpuShim.class);
        long handle = open(
                library != null ? library : kind.library(), (name, error) -> GpuShim.open(kind.ordinal(), name, error));
        try {
            return new GpuApi(kind, handle);
        } catch (Throwable e) {
            GpuShim.close(handle);
            throw e;
        }
    }

    /** Opens a library by name, a NUL-terminated text or 0 for the usual library; returns a handle, or 0 and an error. */
    interface Opener {
        long open(long name, long error);
    }

    static long open(@Nullable String name, Opener opener) {
        NativeError error = new NativeError();
        try (Arena arena = Arena.ofConfined()) {
            long text = name == null || name.isBlank()
                    ? 0
                    : arena.allocateFrom(name, StandardCharsets.UTF_8).address();
            long handle = opener.open(text, error.address());
            if (handle == 0) {
                throw error.toException();
            }
            return handle;
        }
    }

    private static List<GpuProperties> readDevices(long handle) {
        NativeError error = new NativeError();
        List<GpuProperties> devices = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment info = arena.allocate(GpuShim.DEVICE_INFO_SIZE, 8);
            int count = GpuShim.deviceCount(handle);
            for (int i = 0; i < count; i++) {
                int status = GpuShim.deviceQuery(handle, i, info.address(), GpuShim.DEVICE_INFO_SIZE, error.address());
                if (status != 0) {
                    throw error.toException(status);
                }
                devices.add(GpuProperties.read(i, info));
            }
        }
        return List.copyOf(devices);
    }

    /** Returns the kind of the library's interface. */
    public GpuKind kind() {
        return kind;
    }

    /** Returns the devices found when the library was opened, in the library's order; may be empty. */
    public List<GpuProperties> devices() {
        return devices;
    }

    /** Returns the version of the driver's interface, in the driver's encoding: CUDA 12.4 is 12040, HIP 5.2 is 50221153 or the like. */
    public int version() {
        return GpuShim.version(handle);
    }

    /**
     * Opens a device.
     *
     * @param index less than the number of {@link #devices}
     * @return the device; the caller closes the device
     * @throws IreeException if the driver refuses the device
     */
    public GpuDevice openDevice(int index) {
        retain(); // for the device
        boolean opened = false;
        NativeError error = new NativeError();
        try {
            long device = GpuShim.deviceOpen(handle, index, error.address());
            if (device == 0) {
                throw error.toException();
            }
            opened = true;
            return new GpuDevice(this, devices.get(index), device);
        } finally {
            if (!opened) {
                release();
            }
        }
    }

    @Override
    protected void destroy() {
        GpuShim.close(handle);
    }

    @Override
    protected String describe() {
        return "driver library of " + kind;
    }
}
