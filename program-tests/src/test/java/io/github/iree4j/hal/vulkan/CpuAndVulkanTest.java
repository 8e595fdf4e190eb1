package io.github.iree4j.hal.vulkan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.MixedDevices;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pipelines from a CPU to a Vulkan device and back, submitted at once: only fences order them. */
@ExtendWith(NothingWrong.class)
class CpuAndVulkanTest {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final int STAGES = 200;
    private static final int ELEMENTS = 1000;

    private final List<AutoCloseable> toClose = new ArrayList<>();
    private Device cpu;
    private Device gpu;
    private TimelineSemaphore timeline;

    @BeforeEach
    void open() {
        gpu = closed(VulkanDrivers.open(DeviceOptions.builder()));
        cpu = closed(MixedDevices.cpu(DeviceOptions.builder()));
        timeline = closed(gpu.createSemaphore(0, Device.SEMAPHORE_DEFAULT));
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
        for (AutoCloseable each : toClose) {
            if (each instanceof Device device) {
                assertThat(device.allocator().statistics().bytesLive()).isZero();
            }
        }
    }

    private <T extends AutoCloseable> T closed(T resource) {
        toClose.add(resource);
        return resource;
    }

    private Fence at(long value) {
        return closed(Fence.at(timeline, value));
    }

    private Device device(int stage) {
        return stage % 2 == 0 ? cpu : gpu;
    }

    private Buffer buffer(Device device) {
        return closed(device.allocator().allocate(BufferParams.DEFAULT, 4L * ELEMENTS));
    }

    private static MemorySegment bytes(Buffer buffer) {
        return buffer.map(MemoryAccess.READ | MemoryAccess.WRITE, 0, Buffer.WHOLE);
    }

    private static void scale(
            DeviceQueue queue, Fence wait, Fence signal, Executable kernels, int c1, Buffer in, Buffer out) {
        queue.dispatch(
                wait,
                signal,
                kernels,
                JavaKernels.SCALE,
                DispatchConfig.of(ELEMENTS, 1, 1),
                new int[] {1, c1},
                BindingTable.of(in, out),
                0);
    }

    /** Stages alternate between the devices, in shared memory: no copies, and no host thread waits in between. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void stagesAlternateInMemoryVisibleToBoth(boolean backwards) {
        Executable[] kernels = {closed(MixedDevices.kernels(cpu)), closed(MixedDevices.kernels(gpu))};
        Buffer[][] seen = new Buffer[2][2];
        for (int b = 0; b < 2; b++) {
            Buffer own = buffer(gpu);
            seen[1][b] = own;
            seen[0][b] = closed(cpu.allocator().importHost(BufferParams.DEFAULT, bytes(own), own));
            bytes(own).fill((byte) 0);
        }
        for (int n = 0; n < STAGES; n++) {
            int stage = backwards ? STAGES - 1 - n : n;
            Buffer[] buffers = seen[stage % 2];
            scale(
                    device(stage).queue(0),
                    at(stage + 1),
                    at(stage + 2),
                    kernels[stage % 2],
                    stage,
                    buffers[stage % 2],
                    buffers[(stage + 1) % 2]);
        }
        assertThat(timeline.value()).isZero();
        timeline.signal(1);
        timeline.await(STAGES + 1, Duration.ofSeconds(60));
        MemorySegment result = bytes(seen[1][STAGES % 2]);
        for (int e = 0; e < ELEMENTS; e++) {
            assertThat(result.get(INT, 4L * e)).isEqualTo(STAGES * (STAGES - 1) / 2);
        }
    }

    /** Each device has its own memory; results pass through host memory in queue order. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void resultsAreTransferredInTheOrderOfTheQueues(boolean backwards) {
        Executable[] kernels = {closed(MixedDevices.kernels(cpu)), closed(MixedDevices.kernels(gpu))};
        Buffer[][] buffers = {{buffer(cpu), buffer(cpu)}, {buffer(gpu), buffer(gpu)}};
        MemorySegment between = closed(Arena.ofShared()).allocate(4L * ELEMENTS, 64);
        HalFile file = closed(HalFile.ofMemory(between, MemoryAccess.READ | MemoryAccess.WRITE, null));
        for (int n = 0; n < STAGES; n++) {
            int stage = backwards ? STAGES - 1 - n : n;
            DeviceQueue queue = device(stage).queue(0);
            Buffer in = buffers[stage % 2][0];
            Buffer out = buffers[stage % 2][1];
            queue.read(at(3 * stage + 1), at(3 * stage + 2), file, 0, in, 0, Buffer.WHOLE, 0);
            scale(queue, at(3 * stage + 2), at(3 * stage + 3), kernels[stage % 2], stage, in, out);
            queue.write(at(3 * stage + 3), at(3 * stage + 4), out, 0, file, 0, Buffer.WHOLE, 0);
        }
        assertThat(timeline.value()).isZero();
        timeline.signal(1);
        timeline.await(3 * STAGES + 1, Duration.ofSeconds(60));
        for (int e = 0; e < ELEMENTS; e++) {
            assertThat(between.get(INT, 4L * e)).isEqualTo(STAGES * (STAGES - 1) / 2);
        }
    }

    /** A failure on a device fails its dependents on the other, with the same cause, and nothing else. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void failuresCrossFromADeviceToTheOther(boolean fromCpu) {
        IreeException lost = IreeException.of(StatusCode.DATA_LOSS, "lost on purpose");
        Device first = fromCpu ? cpu : gpu;
        Device second = fromCpu ? gpu : cpu;
        Buffer buffer = buffer(second);
        TimelineSemaphore other = closed(second.createSemaphore(0, Device.SEMAPHORE_DEFAULT));
        Fence end = closed(Fence.at(other, 1));
        second.queue(0).fill(at(2), end, buffer, 0, 4, 1, 4, 0);
        first.queue(0)
                .hostCall(
                        at(1),
                        at(2),
                        () -> {
                            throw lost;
                        },
                        0);
        TimelineSemaphore apart = closed(second.createSemaphore(0, Device.SEMAPHORE_DEFAULT));
        Fence unrelated = closed(Fence.at(apart, 1));
        second.queue(0).fill(null, unrelated, buffer, 4, 4, 7, 4, 0);
        unrelated.await(Duration.ofSeconds(60));
        timeline.signal(1);
        assertThat(catchThrowableOfType(IreeException.class, () -> end.await(Duration.ofSeconds(60))))
                .isNotNull();
        assertThat(end.failure()).containsSame(lost);
        assertThat(bytes(buffer).get(INT, 4)).isEqualTo(7);
    }

    /** A timeline of a device may be signalled by the other device, by the host, and by both in turn. */
    @Test
    void aTimelineIsSignalledByBothDevicesAndTheHost() {
        AtomicInteger host = new AtomicInteger();
        for (int i = 0; i < 60; i++) {
            switch (i % 3) {
                case 0 -> cpu.queue(0).barrier(at(i + 1), at(i + 2), 0);
                case 1 -> gpu.queue(0).barrier(at(i + 1), at(i + 2), 0);
                default -> {
                    int value = i + 2;
                    timeline.whenReached(i + 1, (reached, failure) -> {
                        host.incrementAndGet();
                        timeline.signal(value);
                    });
                }
            }
        }
        timeline.signal(1);
        timeline.await(61, Duration.ofSeconds(60));
        assertThat(host).hasValue(20);
    }

    /** A device with dependents is closed: the waits fail, and the other device continues. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void closingADeviceFailsTheWaitsOfTheOther(boolean closeCpu) throws Exception {
        Device gone =
                closeCpu ? MixedDevices.cpu(DeviceOptions.builder()) : VulkanDrivers.open(DeviceOptions.builder());
        Device stays = closeCpu ? gpu : cpu;
        Buffer buffer = buffer(stays);
        gone.queue(0).barrier(at(1), at(2), 0);
        TimelineSemaphore other = closed(stays.createSemaphore(0, Device.SEMAPHORE_DEFAULT));
        Fence end = closed(Fence.at(other, 1));
        stays.queue(0).fill(at(2), end, buffer, 0, 4, 1, 4, 0);
        gone.close();
        assertThat(catchThrowableOfType(IreeException.class, () -> end.await(Duration.ofSeconds(60))))
                .isNotNull()
                .extracting(IreeException::code)
                .isEqualTo(StatusCode.ABORTED);
        TimelineSemaphore apart = closed(stays.createSemaphore(0, Device.SEMAPHORE_DEFAULT));
        Fence unrelated = closed(Fence.at(apart, 1));
        stays.queue(0).fill(null, unrelated, buffer, 0, 4, 9, 4, 0);
        unrelated.await(Duration.ofSeconds(60));
        assertThat(bytes(buffer).get(INT, 0)).isEqualTo(9);
    }
}
