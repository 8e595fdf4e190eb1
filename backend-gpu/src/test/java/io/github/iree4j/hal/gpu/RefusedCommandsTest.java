package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Work behind commands refused by the driver. */
@Timeout(300)
class RefusedCommandsTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final BufferParams OF_DEVICE = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);

    @TempDir
    private Path directory;

    /** SCHED-7: the streams go on behind commands refused by the driver, before the host knows. */
    @ParameterizedTest
    @CsvSource({"CUDA, 0", "CUDA, 1", "HIP, 0", "HIP, 1"})
    void neitherAHostCallIsMadeNorAFileWrittenBehindRefusedCommands(GpuKind kind, int queue) throws IOException {
        for (int round = 0; round < Effort.rounds(20); round++) {
            Path place = Files.createDirectory(directory.resolve("round" + round));
            GpuDrivers fake = GpuDrivers.fake(place, kind, "fail=fill_32:2:1");
            StreamDevice device = fake.open(DeviceOptions.builder());
            AtomicInteger made = new AtomicInteger();
            Path written = Files.write(place.resolve("written"), new byte[64]);
            try (Buffer buffer = device.allocator().allocate(OF_DEVICE, 64);
                    HalFile file = HalFile.open(written, MemoryAccess.READ | MemoryAccess.WRITE);
                    TimelineSemaphore timeline = TimelineSemaphore.create(0);
                    TimelineSemaphore called = TimelineSemaphore.create(0);
                    TimelineSemaphore stored = TimelineSemaphore.create(0);
                    Fence first = Fence.at(timeline, 1);
                    Fence failed = Fence.at(timeline, 2);
                    Fence afterCall = Fence.at(called, 1);
                    Fence afterWrite = Fence.at(stored, 1)) {
                device.queue(0).fill(null, first, buffer, 0, 64, 9, 4, 0);
                first.await(LONG);
                device.queue(0).fill(null, failed, buffer, 0, 64, 5, 4, 0);
                device.queue(queue).hostCall(failed, afterCall, made::incrementAndGet, 0);
                device.queue(queue).write(failed, afterWrite, buffer, 0, file, 0, 64, 0);
                for (Fence each : List.of(afterCall, afterWrite)) {
                    assertThat(catchThrowableOfType(IreeException.class, () -> each.await(LONG)))
                            .extracting(IreeException::code)
                            .isEqualTo(StatusCode.INVALID_ARGUMENT);
                }
            }
            device.close();
            assertThat(made).hasValue(0);
            assertThat(Files.readAllBytes(written)).containsOnly(0);
            GpuDrivers.assertNothingLeft(device);
        }
    }

    /** Parts of files are copied from memory used by other transfers. */
    @ParameterizedTest
    @EnumSource(GpuKind.class)
    void anUnreadFileBehindRefusedCommandsLeavesNoBytesOfOtherTransfers(GpuKind kind) throws IOException {
        byte[] others = new byte[1 << 20];
        Arrays.fill(others, (byte) 0x5E);
        Path secret = Files.write(directory.resolve("others"), others);
        Path wanted = Files.write(directory.resolve("wanted"), new byte[1 << 20]);
        GpuDrivers fake = GpuDrivers.fake(directory, kind, "fail=fill_32:1:1");
        StreamDevice device = fake.open(DeviceOptions.builder());
        try (Buffer first = device.allocator().allocate(OF_DEVICE, 1 << 20);
                Buffer target = device.allocator().allocate(OF_DEVICE, 1 << 20);
                HalFile other = HalFile.open(secret, MemoryAccess.READ);
                HalFile file = HalFile.open(wanted, MemoryAccess.READ);
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                TimelineSemaphore failing = TimelineSemaphore.create(0);
                Fence failed = Fence.at(failing, 1);
                Fence late = Fence.at(failing, 2)) {
            DeviceQueue queue = device.queue(0);
            for (int i = 1; i <= 20; i++) { // each piece of the memory between is used
                try (Fence each = Fence.at(timeline, i)) {
                    queue.read(null, each, other, 0, first, 0, 1 << 20, 0);
                    each.await(LONG);
                }
            }
            queue.fill(null, failed, first, 0, 64, 5, 4, 0);
            queue.read(failed, late, file, 0, target, 0, 1 << 20, 0);
            assertThat(catchThrowableOfType(IreeException.class, () -> late.await(LONG)))
                    .isNotNull();
            byte[] now = new byte[1 << 20];
            target.read(0, MemorySegment.ofArray(now));
            assertThat(now).doesNotContain((byte) 0x5E);
        }
        device.close();
        GpuDrivers.assertNothingLeft(device);
    }
}
