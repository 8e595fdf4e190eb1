package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.hal.stream.StreamDevices;
import io.github.iree4j.hal.stream.TestDriver;
import io.github.iree4j.nativeaccess.gpu.FakeGpu;
import io.github.iree4j.nativeaccess.gpu.GpuDevice;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A driver of CUDA or HIP for tests: over a library without hardware, or, if named by the system property {@code
 * iree.gpu.real}, over the machine's.
 */
public final class GpuDrivers implements TestDriver {
    /**
     * Things that hardware does but need not do: settings of the library without hardware, for suites that run on
     * either.
     */
    static final String AS_HARDWARE = "instances alignment=512 implicit_sync lazy";

    private final GpuDriver driver;
    private final @Nullable FakeGpu fake;

    private GpuDrivers(GpuDriver driver, @Nullable FakeGpu fake) {
        this.driver = driver;
        this.fake = fake;
        assertThat(driver.availability()).isEqualTo(Availability.AVAILABLE);
    }

    /** The machine's if named, or otherwise a driver without hardware in a directory. */
    public static GpuDrivers in(Path directory, GpuKind kind) {
        return isReal(kind) ? new GpuDrivers(new GpuDriver(kind, null), null) : fake(directory, kind, AS_HARDWARE);
    }

    /** A driver without hardware, with settings. */
    public static GpuDrivers fake(Path directory, GpuKind kind, String settings) {
        return fake(directory, kind, settings, StreamDevice.CLOSE_LIMIT);
    }

    /** The same, with a limit for closing its devices. */
    public static GpuDrivers fake(Path directory, GpuKind kind, String settings, Duration closeLimit) {
        return fake(directory, kind, settings, closeLimit, GpuLane.WINDOW);
    }

    /** The same, with the number of commands under way up to which callers give more. */
    static GpuDrivers fake(Path directory, GpuKind kind, String settings, int window) {
        return fake(directory, kind, settings, StreamDevice.CLOSE_LIMIT, window);
    }

    private static GpuDrivers fake(Path directory, GpuKind kind, String settings, Duration closeLimit, int window) {
        return fake(directory, kind, settings, closeLimit, window, linger(kind));
    }

    /** The same, with the time of attendance of lanes' threads after the last work. */
    static GpuDrivers fake(
            Path directory, GpuKind kind, String settings, Duration closeLimit, int window, long linger) {
        FakeGpu library = FakeGpu.in(directory, FakeGpu.Kind.valueOf(kind.name()), settings);
        return new GpuDrivers(
                new GpuDriver(kind, library.library(), library.library(), closeLimit, window, linger), library);
    }

    /** With attending threads, or without, for any number of processors: so each suite meets both. */
    static long linger(GpuKind kind) {
        return kind == GpuKind.CUDA ? GpuLane.LINGER_NANOS : 0;
    }

    /** Whether tests run on the machine's devices. */
    static boolean isReal(GpuKind kind) {
        return System.getProperty("iree.gpu.real", "").equalsIgnoreCase(kind.name());
    }

    @Override
    public StreamDevice open(DeviceOptions.Builder options) {
        return driver.open(driver.name(), options.build());
    }

    /** Opens a device of the driver; closed by the caller. */
    public StreamDevice open(String id) {
        return driver.open(id, DeviceOptions.DEFAULTS);
    }

    GpuDriver driver() {
        return driver;
    }

    /** The library without hardware; null for the machine's. */
    public @Nullable FakeGpu library() {
        return fake;
    }

    @Override
    public void hang() {
        if (fake != null) {
            fake.hang();
        }
    }

    /** Only the lane with this index of the first opened device. */
    void hang(int lane) {
        if (fake != null) {
            fake.hang(lane);
        }
    }

    @Override
    public void goOn() {
        if (fake != null) {
            fake.goOn();
        }
    }

    /** The native device of one of these. */
    static GpuDevice handle(StreamDevice device) {
        return ((GpuHardware) StreamDevices.driver(device)).device();
    }

    @Override
    public void lose() {
        Objects.requireNonNull(fake, "hardware").lose();
    }

    @Override
    public void assertNothingToComplainOf() {
        if (fake != null) {
            assertThat(fake.complaints()).as("misuse").isEmpty();
        }
    }

    @Override
    public Map<String, Long> liveObjects(StreamDevice device) {
        long[] counts = handle(device).liveObjects();
        return IntStream.range(0, counts.length)
                .boxed()
                .collect(Collectors.toMap(GpuDevice.KINDS::get, i -> counts[i]));
    }

    /** Fails unless a closed device has left nothing behind. */
    public static void assertNothingLeft(StreamDevice closed) {
        long[] counts = handle(closed).liveObjects();
        for (int i = 0; i < counts.length; i++) {
            assertThat(counts[i]).as(GpuDevice.KINDS.get(i)).isZero();
        }
    }
}
