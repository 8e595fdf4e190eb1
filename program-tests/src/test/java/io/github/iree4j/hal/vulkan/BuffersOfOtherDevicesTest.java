package io.github.iree4j.hal.vulkan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.MixedDevices;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.hal.stream.StreamDevices;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Work of a device on buffers of another, in place: a CPU and a Vulkan device, both ways. */
@ExtendWith(NothingWrong.class)
class BuffersOfOtherDevicesTest {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final int STAGES = 100;
    private static final int ELEMENTS = 1000;

    private final List<AutoCloseable> toClose = new ArrayList<>();
    private Device cpu;
    private StreamDevice gpu;
    private TimelineSemaphore timeline;

    @BeforeEach
    void open() {
        gpu = closed(VulkanDrivers.open(DeviceOptions.builder()));
        cpu = closed(MixedDevices.cpu(DeviceOptions.builder()));
        gpu.memoryObstacle(cpu).ifPresent(Assumptions::abort);
        cpu.memoryObstacle(gpu).ifPresent(Assumptions::abort);
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
        if (gpu != null) {
            assertThat(StreamDevices.importCount(gpu)).as("imports left").isZero();
        }
    }

    private <T extends AutoCloseable> T closed(T resource) {
        toClose.add(resource);
        return resource;
    }

    private Fence at(long value) {
        return closed(Fence.at(timeline, value));
    }

    private void await(long value) {
        timeline.await(value, Duration.ofSeconds(60));
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

    /** In each stage a device reads the other's buffer, or the other way around, and adds the stage's number. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void stagesAlternateBetweenDevicesAndTheirBuffers(boolean crossed) {
        Executable[] kernels = {closed(MixedDevices.kernels(cpu)), closed(MixedDevices.kernels(gpu))};
        Buffer[] buffers = {buffer(crossed ? gpu : cpu), buffer(crossed ? cpu : gpu)};
        bytes(buffers[0]).fill((byte) 0);
        for (int stage = 0; stage < STAGES; stage++) {
            device(stage)
                    .queue(0)
                    .dispatch(
                            at(stage + 1),
                            at(stage + 2),
                            kernels[stage % 2],
                            JavaKernels.SCALE,
                            DispatchConfig.of(ELEMENTS, 1, 1),
                            new int[] {1, stage},
                            BindingTable.of(buffers[stage % 2], buffers[(stage + 1) % 2]),
                            0);
        }
        timeline.signal(1);
        await(STAGES + 1);
        MemorySegment result = bytes(buffers[STAGES % 2]);
        for (int e = 0; e < ELEMENTS; e++) {
            assertThat(result.get(INT, 4L * e)).isEqualTo(STAGES * (STAGES - 1) / 2);
        }
        assertThat(StreamDevices.importCount(gpu)).as("the slab, once").isEqualTo(1);
        gpu.allocator().trim();
        assertThat(StreamDevices.importCount(gpu)).isZero();
    }

    /** Recorded once with the other's buffer, fixed, and executed again and again. */
    @Test
    void aCommandBufferKeepsABufferOfTheOther() {
        for (Device device : List.of(cpu, gpu)) {
            Buffer other = buffer(device.equals(cpu) ? gpu : cpu);
            Buffer own = buffer(device);
            bytes(other).fill((byte) 5);
            try (CommandBuffer commands = device.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 1)) {
                commands.copyBuffer(BufferRef.of(other, 0, 400), BufferRef.slot(0, 400, 400), 0);
                commands.executionBarrier(0, 0, 0);
                commands.fillBuffer(BufferRef.of(other, 800, 400), 7, 4, 0);
                commands.finish();
                TimelineSemaphore steps = closed(device.createSemaphore(0, Device.SEMAPHORE_DEFAULT));
                for (int i = 1; i <= 3; i++) {
                    bytes(own).fill((byte) 0);
                    device.queue(0).execute(null, closed(Fence.at(steps, i)), commands, BindingTable.of(own), 0);
                    steps.await(i, Duration.ofSeconds(60));
                    assertThat(bytes(own).get(INT, 400)).isEqualTo(0x05050505);
                    assertThat(bytes(own).get(INT, 800)).isZero();
                    assertThat(bytes(other).get(INT, 800)).isEqualTo(7);
                }
            }
        }
    }

    /** Allocated on a queue, used and freed on the other, without host threads in between. */
    @Test
    void memoryInQueueOrderIsUsedAndGivenBackByTheOther() {
        int value = 0;
        timeline.signal(1);
        value = 1;
        for (int round = 0; round < 40; round++) {
            DeviceQueue owner = device(round).queue(0);
            DeviceQueue other = device(round + 1).queue(0);
            Buffer transientBuffer = closed(owner.alloca(at(value), at(value + 1), BufferParams.DEFAULT, 4096, 0));
            Buffer result = buffer(device(round + 1));
            other.fill(at(value + 1), at(value + 2), transientBuffer, 0, 4096, round, 4, 0);
            other.copy(at(value + 2), at(value + 3), transientBuffer, 96, result, 0, 4000, 0);
            other.dealloca(
                    at(value + 3),
                    at(value + 4),
                    transientBuffer,
                    round % 4 < 2 ? DeviceQueue.DEALLOCA_PREFER_ORIGIN : 0);
            value += 4;
            int number = round;
            await(value);
            assertThat(bytes(result).get(INT, 3996)).isEqualTo(number);
            assertThat(transientBuffer.isLive()).isTrue();
        }
    }

    /** Host transfers of a buffer run on the buffer's own device, whichever device is asked. */
    @Test
    void updatesAndFilesOfABufferOfTheOther() {
        int value = 0;
        try (Arena arena = Arena.ofShared()) {
            for (Device device : List.of(cpu, gpu)) {
                Buffer other = buffer(device.equals(cpu) ? gpu : cpu);
                MemorySegment bytes = arena.allocateFrom(INT, 7, 8, 9);
                HalFile file = closed(HalFile.ofMemory(bytes, MemoryAccess.ALL, null));
                DeviceQueue queue = device.queue(0);
                queue.read(null, at(value + 1), file, 4, other, 0, 8, 0);
                queue.update(at(value + 1), at(value + 2), MemorySegment.ofArray(new int[] {10}), other, 8, 0);
                queue.write(at(value + 2), at(value + 3), other, 4, file, 0, 8, 0);
                value += 3;
                await(value);
                assertThat(bytes(other).asSlice(0, 12).toArray(INT)).containsExactly(8, 9, 10);
                assertThat(bytes.toArray(INT)).containsExactly(9, 10, 9);
            }
        }
    }

    /** Memory imported by the other device is imported while in use. */
    @Test
    void memoryImportedByTheOtherIsImportedWhileInUse() {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment mine = arena.allocate(4096, 4096).fill((byte) 9);
            Buffer imported = closed(cpu.allocator().importHost(BufferParams.DEFAULT, mine, null));
            Buffer result = buffer(gpu);
            gpu.queue(0).copy(null, at(1), imported, 0, result, 0, 4000, 0);
            await(1);
            assertThat(bytes(result).get(INT, 0)).isEqualTo(0x09090909);
            gpu.queue(0).barrier(null, at(2), 0);
            await(2);
        }
    }

    @Test
    void aShaderIsNotGivenReadOnlyMemoryOfTheOtherToWrite() {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment mine = arena.allocate(4L * ELEMENTS, 4096).asReadOnly();
            BufferParams reading = BufferParams.DEFAULT.withAccess(MemoryAccess.READ);
            Buffer constant = closed(cpu.allocator().importHost(reading, mine, null));
            Executable kernels = closed(MixedDevices.kernels(gpu));
            Fence done = at(1);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> {
                        gpu.queue(0)
                                .dispatch(
                                        null,
                                        done,
                                        kernels,
                                        JavaKernels.SCALE,
                                        DispatchConfig.of(ELEMENTS, 1, 1),
                                        new int[] {1, 1},
                                        BindingTable.of(buffer(gpu), constant),
                                        0);
                        done.await(Duration.ofSeconds(60));
                    })
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.PERMISSION_DENIED));
        }
    }

    @Test
    void missingAbilitiesOfADeviceAreNamed(@TempDir Path directory) {
        FakeDriver fake = FakeDriver.in(directory, "");
        try (StreamDevice hidden = fake.open(DeviceOptions.builder());
                Buffer unseen = hidden.allocator().allocate(BufferParams.DEFAULT, 64);
                Buffer own = cpu.allocator().allocate(BufferParams.DEFAULT, 64)) {
            Fence done = at(1);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> {
                        cpu.queue(0).copy(null, done, unseen, 0, own, 0, 64, 0);
                        done.await(Duration.ofSeconds(60));
                    })
                    .withMessageContaining("memory that its device alone sees");
        }
        fake.assertNothingToComplainOf();
    }
}
