package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.nativeaccess.gpu.FakeGpu;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Commands recorded anew for each execution, as compiled programs do, become a graph on repetition. */
class KnownGraphsTest {
    private static final BufferParams PARAMS = GpuGraphsTest.PARAMS;

    @TempDir
    static Path directory;

    private static Buffer zero(StreamDevice device) {
        Buffer buffer = device.allocator().allocate(PARAMS, 4);
        buffer.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).set(ValueLayout.JAVA_INT, 0, 0);
        return buffer;
    }

    /** Records commands that add a number so many times, executes them once, and closes them at once. */
    private static void add(
            StreamDevice device, int queue, Executable kernels, Buffer buffer, int number, int times, Fence done) {
        try (CommandBuffer commands = device.createCommandBuffer(
                CommandBuffer.ONE_SHOT, CommandBuffer.DISPATCH | CommandBuffer.TRANSFER, 1, 0)) {
            BufferRef place = BufferRef.of(buffer);
            for (int i = 0; i < times; i++) {
                commands.dispatch(
                        kernels,
                        JavaKernels.SCALE,
                        DispatchConfig.of(1, 1, 1),
                        new int[] {1, number},
                        List.of(place, place),
                        0);
                commands.executionBarrier(CommandBuffer.STAGE_COMMAND_RETIRE, CommandBuffer.STAGE_COMMAND_ISSUE, 0);
            }
            commands.finish();
            device.queue(queue).execute(null, done, commands, null, 0);
        }
    }

    private static void add(StreamDevice device, Executable kernels, Buffer buffer, int number, int times) {
        try (TimelineSemaphore semaphore = device.createSemaphore(0, 0);
                Fence done = Fence.at(semaphore, 1)) {
            add(device, 0, kernels, buffer, number, times, done);
            done.await();
        }
    }

    @FunctionalInterface
    private interface Use {
        void run(StreamDevice device, FakeGpu fake, Executable kernels);
    }

    private static void with(GpuKind kind, String settings, Use use) {
        with(GpuDrivers.fake(directory, kind, settings), use);
    }

    private static void with(GpuDrivers driver, Use use) {
        StreamDevice device = driver.open(DeviceOptions.builder().queueCount(2));
        try (device;
                Executable kernels = GpuKernels.load(device)) {
            use.run(device, Objects.requireNonNull(driver.library()), kernels);
        }
        driver.assertNothingToComplainOf();
        GpuDrivers.assertNothingLeft(device);
    }

    @ParameterizedTest
    @EnumSource
    void theSecondRecordingMakesAGraphForLaterRecordings(GpuKind kind) {
        with(kind, "", (device, fake, kernels) -> {
            try (Buffer buffer = zero(device)) {
                for (int i = 1; i <= 5; i++) {
                    add(device, kernels, buffer, 1, 10);
                    assertThat(GpuGraphsTest.read(buffer)).isEqualTo(i * 10);
                }
            }
            assertThat(fake.calls("graph_instantiate")).isEqualTo(1);
            assertThat(fake.calls("graph_launch")).isEqualTo(4);
            assertThat(device.driverCounters().graphLaunches()).isEqualTo(4);
        });
    }

    @ParameterizedTest
    @EnumSource
    void otherConstantsAndOtherBuffersAreOtherCommands(GpuKind kind) {
        with(kind, "", (device, fake, kernels) -> {
            try (Buffer one = zero(device);
                    Buffer other = zero(device)) {
                int[] expected = new int[2];
                for (int i = 1; i <= 6; i++) { // each combination twice
                    add(device, kernels, i % 2 == 0 ? one : other, i % 3, 4);
                    expected[i % 2] += 4 * (i % 3);
                }
                assertThat(fake.calls("graph_instantiate")).isZero();
                for (int i = 1; i <= 12; i++) {
                    add(device, kernels, i % 2 == 0 ? one : other, i % 3, 4);
                    expected[i % 2] += 4 * (i % 3);
                }
                assertThat(GpuGraphsTest.read(one)).isEqualTo(expected[0]);
                assertThat(GpuGraphsTest.read(other)).isEqualTo(expected[1]);
            }
            assertThat(fake.calls("graph_instantiate")).isEqualTo(6);
            assertThat(fake.calls("graph_launch")).isEqualTo(12);
        });
    }

    @ParameterizedTest
    @EnumSource
    void aSingleCommandIsNoGraph(GpuKind kind) {
        with(kind, "", (device, fake, kernels) -> {
            try (Buffer buffer = zero(device)) {
                for (int i = 0; i < 5; i++) {
                    add(device, kernels, buffer, 1, 1);
                }
                assertThat(GpuGraphsTest.read(buffer)).isEqualTo(5);
            }
            assertThat(fake.calls("graph_instantiate")).isZero();
        });
    }

    /** GPU-7: the address may be of other memory from then on. */
    @ParameterizedTest
    @EnumSource
    void afterMemoryIsFreedNoEarlierGraphIsLaunched(GpuKind kind) {
        with(kind, "", (device, fake, kernels) -> {
            try (Buffer buffer = zero(device)) {
                for (int i = 0; i < 3; i++) {
                    add(device, kernels, buffer, 1, 10);
                }
                assertThat(fake.calls("graph_launch")).isEqualTo(2);
                device.allocator().allocate(PARAMS, 64 << 20).close();
                device.allocator().trim();
                add(device, kernels, buffer, 1, 10);
                assertThat(fake.calls("graph_launch")).isEqualTo(2);
                assertThat(fake.calls("graph_exec_destroy")).isEqualTo(1);
                assertThat(GpuGraphsTest.read(buffer)).isEqualTo(40);
            }
        });
    }

    /** GPU-7: the handle of a function may be of other code from then on. */
    @ParameterizedTest
    @EnumSource
    void afterCodeIsUnloadedNoEarlierGraphIsLaunched(GpuKind kind) {
        with(kind, "", (device, fake, kernels) -> {
            try (Buffer buffer = zero(device)) {
                for (int i = 0; i < 4; i++) {
                    try (Executable again = GpuKernels.load(device)) {
                        add(device, again, buffer, 1, 10);
                        add(device, again, buffer, 1, 10);
                    }
                }
                assertThat(GpuGraphsTest.read(buffer)).isEqualTo(80);
            }
        });
    }

    /** GPU-8: all graphs outside the table are released. */
    @ParameterizedTest
    @EnumSource
    void theGraphUsedLongestAgoMakesRoom(GpuKind kind) {
        with(kind, "", (device, fake, kernels) -> {
            try (Buffer buffer = zero(device)) {
                int sum = 0;
                for (int number = 1; number <= KnownGraphs.MOST + 10; number++) {
                    for (int i = 0; i < 12; i++) { // often enough to be worth it
                        add(device, kernels, buffer, number, 2);
                        sum += 2 * number;
                    }
                }
                assertThat(GpuGraphsTest.read(buffer)).isEqualTo(sum);
            }
            assertThat(fake.calls("graph_instantiate")).isEqualTo(KnownGraphs.MOST + 10L);
            assertThat(fake.calls("graph_exec_destroy")).isEqualTo(10);
        });
    }

    /** GPU-8: the last execution releases a graph without a place. */
    @ParameterizedTest
    @EnumSource
    void aGraphInUseLosesItsPlace(GpuKind kind) {
        GpuDrivers driver = GpuDrivers.fake(directory, kind, "");
        with(driver, (device, fake, kernels) -> {
            try (Buffer buffer = zero(device);
                    TimelineSemaphore semaphore = device.createSemaphore(0, 0);
                    Fence third = Fence.at(semaphore, 1);
                    Fence fourth = Fence.at(semaphore, 2)) {
                add(device, kernels, buffer, 1, 10);
                add(device, kernels, buffer, 1, 10);
                driver.hang(0);
                try {
                    add(device, 0, kernels, buffer, 1, 10, third);
                    device.allocator().allocate(PARAMS, 64 << 20).close();
                    device.allocator().trim();
                    add(device, 0, kernels, buffer, 1, 10, fourth);
                    assertThat(fake.calls("graph_exec_destroy")).isZero();
                } finally {
                    driver.goOn();
                }
                fourth.await();
                assertThat(GpuGraphsTest.read(buffer)).isEqualTo(40);
            }
        });
        assertThat(Objects.requireNonNull(driver.library()).calls("graph_exec_destroy"))
                .isEqualTo(1);
    }

    /** The execution fails; the next give the commands until a graph is made again. */
    @ParameterizedTest
    @EnumSource
    void anUnlaunchableGraphIsForgotten(GpuKind kind) {
        with(kind, "fail=graph_launch:2:2", (device, fake, kernels) -> {
            try (Buffer buffer = zero(device)) {
                add(device, kernels, buffer, 1, 10);
                add(device, kernels, buffer, 1, 10);
                assertThatThrownBy(() -> add(device, kernels, buffer, 1, 10))
                        .hasMessageContaining("launching a graph failed with OUT_OF_MEMORY (2)");
                assertThat(fake.calls("graph_exec_destroy")).isEqualTo(1);
                for (int i = 0; i < 6; i++) {
                    add(device, kernels, buffer, 1, 10);
                }
                assertThat(GpuGraphsTest.read(buffer)).isEqualTo(80);
            }
            assertThat(fake.calls("graph_instantiate")).isEqualTo(2);
        });
    }

    /** A driver without memory for a graph is asked less often. */
    @ParameterizedTest
    @EnumSource
    void anUnmakeableGraphIsAskedForLater(GpuKind kind) {
        with(kind, "fail=graph_instantiate:1:2", (device, fake, kernels) -> {
            try (Buffer buffer = zero(device)) {
                for (int i = 1; i <= 6; i++) {
                    add(device, kernels, buffer, 1, 10);
                    assertThat(GpuGraphsTest.read(buffer)).isEqualTo(i * 10);
                }
            }
            assertThat(fake.calls("graph_instantiate")).isEqualTo(2);
            assertThat(fake.calls("graph_launch")).isEqualTo(3); // executions 4, 5 and 6
        });
    }

    /** Random recordings on two queues, many under way at once, with memory freed in between. */
    @ParameterizedTest
    @EnumSource
    void whateverRepeatsTheSumsAreRight(GpuKind kind) {
        Random random = new Random(Effort.seed(getClass(), "recordings", 20261126) + kind.ordinal());
        for (int round = 0; round < Effort.rounds(6); round++) {
            with(kind, "", (device, fake, kernels) -> {
                List<Buffer> buffers = new ArrayList<>();
                List<Fence> fences = new ArrayList<>();
                int[] sums = new int[4];
                for (int i = 0; i < sums.length; i++) {
                    buffers.add(zero(device));
                }
                try (TimelineSemaphore first = device.createSemaphore(0, 0);
                        TimelineSemaphore second = device.createSemaphore(0, 0)) {
                    TimelineSemaphore[] ends = {first, second};
                    long[] values = new long[2];
                    for (int i = 0; i < 150; i++) {
                        int which = random.nextInt(sums.length); // a buffer belongs to a single queue
                        int queue = which % 2;
                        int number = 1 + random.nextInt(2);
                        int times = 2 + random.nextInt(2);
                        Fence done = Fence.at(ends[queue], ++values[queue]);
                        fences.add(done);
                        add(device, queue, kernels, buffers.get(which), number, times, done);
                        sums[which] += number * times;
                        if (random.nextInt(20) == 0) {
                            done.await();
                        }
                        if (random.nextInt(40) == 0) {
                            device.allocator().allocate(PARAMS, 64 << 20).close();
                            device.allocator().trim();
                        }
                    }
                    for (int queue = 0; queue < 2; queue++) {
                        ends[queue].await(values[queue]);
                    }
                    for (int i = 0; i < sums.length; i++) {
                        assertThat(GpuGraphsTest.read(buffers.get(i)))
                                .as("buffer %d", i)
                                .isEqualTo(sums[i]);
                    }
                } finally {
                    fences.forEach(Fence::close);
                    buffers.forEach(Buffer::close);
                }
            });
        }
    }
}
