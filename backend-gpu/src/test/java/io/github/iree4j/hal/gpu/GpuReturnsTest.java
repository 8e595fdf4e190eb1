package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.nativeaccess.gpu.FakeGpu;
import io.github.iree4j.nativeaccess.gpu.GpuDevice;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Memory goes back to the driver: before close() returns, and where the driver refuses at first. */
@Timeout(300)
class GpuReturnsTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final BufferParams OF_DEVICE = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);

    @TempDir
    private Path directory;

    private static long memory(StreamDevice device) {
        return GpuDrivers.handle(device).liveObjects()[GpuDevice.KINDS.indexOf("MEMORY")];
    }

    /** STREAM-10: another thread gives a slab back, taken by the driver within 0.2 s, when the device is closed. */
    @ParameterizedTest
    @EnumSource
    void closeReturnsAfterSlabsReturnedByOtherThreads(GpuKind kind) throws Exception {
        GpuDrivers driver = GpuDrivers.fake(directory, kind, "slow=200000");
        FakeGpu fake = Objects.requireNonNull(driver.library());
        StreamDevice device = driver.open(DeviceOptions.builder());
        device.allocator().allocate(OF_DEVICE, 64).close();
        Thread trimming = Thread.ofPlatform().start(device.allocator()::trim);
        while (fake.calls("pool_free") == 0) { // taken from the pools, and on its way
            Thread.onSpinWait();
        }
        device.close();
        assertThat(memory(device)).as("after close()").isZero();
        trimming.join(LONG);
        GpuDrivers.assertNothingLeft(device);
        driver.assertNothingToComplainOf();
    }

    /** Memory freed in neither way is counted until the driver takes it. */
    @ParameterizedTest
    @EnumSource
    void memoryRefusedByTheDriverIsOfferedAgain(GpuKind kind) {
        GpuDrivers driver = GpuDrivers.fake(
                directory, kind, "fail=pool_free:1:2 fail=memory_free:1:304 fail=pool_free:3:2 fail=memory_free:2:2");
        StreamDevice device = driver.open(DeviceOptions.builder());
        device.allocator().allocate(OF_DEVICE, 64).close();
        device.allocator().trim();
        assertThat(memory(device)).as("refused").isEqualTo(1);
        try (Buffer next = device.allocator().allocate(OF_DEVICE, 64)) {
            assertThat(next.length()).isEqualTo(64);
            assertThat(memory(device)).as("that of the buffer").isEqualTo(1);
        }
        device.allocator().trim();
        assertThat(memory(device)).as("refused again").isEqualTo(1);
        device.close();
        GpuDrivers.assertNothingLeft(device);
        driver.assertNothingToComplainOf();
    }
}
