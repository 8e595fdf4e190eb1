package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.nativeaccess.gpu.FakeGpu;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Commands executed again unchanged become a graph, with the same results. */
class GpuGraphsTest {
    private static final int DISPATCHES = 40;
    private static final int WAVES = 6; // even, for the last wave to write where the first reads

    static final BufferParams PARAMS = new BufferParams(
            MemoryType.DEVICE_LOCAL | MemoryType.HOST_VISIBLE, BufferUsage.DEFAULT | BufferUsage.MAPPING);

    @TempDir
    static Path directory;

    static int read(Buffer buffer) {
        return buffer.map(MemoryAccess.READ, 0, Buffer.WHOLE).get(ValueLayout.JAVA_INT, 0);
    }

    /** Each dispatch makes {@code x + 1} of {@code x}. */
    private static CommandBuffer increments(StreamDevice device, Executable kernels, BufferRef place) {
        CommandBuffer commands = device.createCommandBuffer(
                0, CommandBuffer.DISPATCH | CommandBuffer.TRANSFER, 1, place.buffer() == null ? 1 : 0);
        for (int i = 0; i < DISPATCHES; i++) {
            commands.dispatch(
                    kernels, JavaKernels.SCALE, DispatchConfig.of(1, 1, 1), new int[] {1, 1}, List.of(place, place), 0);
            commands.executionBarrier(CommandBuffer.STAGE_COMMAND_RETIRE, CommandBuffer.STAGE_COMMAND_ISSUE, 0);
        }
        commands.finish();
        return commands;
    }

    private static void execute(StreamDevice device, CommandBuffer commands, @Nullable BindingTable table) {
        execute(device, 0, commands, table);
    }

    private static void execute(StreamDevice device, int queue, CommandBuffer commands, @Nullable BindingTable table) {
        try (TimelineSemaphore semaphore = device.createSemaphore(0, 0);
                Fence done = Fence.at(semaphore, 1)) {
            device.queue(queue).execute(null, done, commands, table, 0);
            done.await();
        }
    }

    /** A use of a buffer of 0, and of commands that add {@value #DISPATCHES}. */
    @FunctionalInterface
    private interface Use {
        void run(StreamDevice device, FakeGpu fake, Buffer buffer, CommandBuffer commands);
    }

    private static void withIncrements(GpuKind kind, String settings, Use use) {
        GpuDrivers driver = GpuDrivers.fake(directory, kind, settings);
        FakeGpu fake = Objects.requireNonNull(driver.library());
        StreamDevice device = driver.open(DeviceOptions.builder());
        try (device;
                Executable kernels = GpuKernels.load(device);
                Buffer buffer = device.allocator().allocate(PARAMS, 4);
                CommandBuffer commands = increments(device, kernels, BufferRef.of(buffer))) {
            buffer.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).set(ValueLayout.JAVA_INT, 0, 0);
            use.run(device, fake, buffer, commands);
        }
        driver.assertNothingToComplainOf();
        GpuDrivers.assertNothingLeft(device);
    }

    @ParameterizedTest
    @EnumSource
    void theSecondExecutionMakesAGraphForLaterExecutions(GpuKind kind) {
        withIncrements(kind, "", (device, fake, buffer, commands) -> {
            for (int i = 1; i <= 5; i++) {
                execute(device, commands, null);
                assertThat(read(buffer)).isEqualTo(i * DISPATCHES);
            }
            assertThat(fake.calls("graph_instantiate")).isEqualTo(1);
            assertThat(fake.calls("graph_launch")).isEqualTo(4);
            assertThat(device.driverCounters().graphLaunches()).isEqualTo(4);
        });
    }

    /**
     * Region after region, each place becomes its neighbour plus one, in the other of two buffers: {@value #DISPATCHES}
     * dispatches of a region may run at once, and the next region needs all of them. The fakes run concurrent commands
     * in another order.
     */
    private static CommandBuffer waves(StreamDevice device, Executable kernels, Buffer even, Buffer odd) {
        CommandBuffer commands = device.createCommandBuffer(0, CommandBuffer.DISPATCH | CommandBuffer.TRANSFER, 1, 0);
        for (int wave = 0; wave < WAVES; wave++) {
            Buffer from = wave % 2 == 0 ? even : odd;
            Buffer to = wave % 2 == 0 ? odd : even;
            for (int i = 0; i < DISPATCHES; i++) {
                commands.dispatch(
                        kernels,
                        JavaKernels.SCALE,
                        DispatchConfig.of(1, 1, 1),
                        new int[] {1, 1},
                        List.of(BufferRef.of(from, 4L * ((i + 1) % DISPATCHES), 4), BufferRef.of(to, 4L * i, 4)),
                        0);
            }
            commands.executionBarrier(CommandBuffer.STAGE_COMMAND_RETIRE, CommandBuffer.STAGE_COMMAND_ISSUE, 0);
        }
        commands.finish();
        return commands;
    }

    @ParameterizedTest
    @EnumSource
    void regionsComeOneAfterTheOtherAndTheirCommandsNeedNot(GpuKind kind) {
        GpuDrivers driver = GpuDrivers.fake(directory, kind, "");
        FakeGpu fake = Objects.requireNonNull(driver.library());
        StreamDevice device = driver.open(DeviceOptions.builder());
        int[] expected = new int[DISPATCHES];
        Arrays.setAll(expected, i -> i * i);
        try (device;
                Executable kernels = GpuKernels.load(device);
                Buffer even = device.allocator().allocate(PARAMS, 4L * DISPATCHES);
                Buffer odd = device.allocator().allocate(PARAMS, 4L * DISPATCHES);
                CommandBuffer commands = waves(device, kernels, even, odd)) {
            MemorySegment.copy(
                    expected, 0, even.map(MemoryAccess.WRITE, 0, Buffer.WHOLE), ValueLayout.JAVA_INT, 0, DISPATCHES);
            for (int i = 0; i < 4; i++) {
                long waits = fake.calls("stream_wait_event");
                execute(device, commands, null);
                for (int wave = 0; wave < WAVES; wave++) {
                    int[] before = expected.clone();
                    Arrays.setAll(expected, at -> before[(at + 1) % DISPATCHES] + 1);
                }
                assertThat(even.map(MemoryAccess.READ, 0, Buffer.WHOLE).toArray(ValueLayout.JAVA_INT))
                        .isEqualTo(expected);
                // Three branches beside the first begin and end in each region, when the graph is made.
                assertThat(fake.calls("stream_wait_event") - waits).isEqualTo(i == 1 ? WAVES * 6 : 0);
            }
            assertThat(fake.calls("graph_launch")).isEqualTo(3);
        }
        driver.assertNothingToComplainOf();
        GpuDrivers.assertNothingLeft(device);
    }

    private static Stream<Arguments> shortages() {
        // Failure; executions before the launch of a graph; graphs asked for by then.
        return Stream.of(GpuKind.values())
                .flatMap(kind -> Stream.of(
                        Arguments.of(kind, "fail=graph_instantiate:1:2", 4, 2),
                        Arguments.of(kind, "fail=graph_instantiate:1:2 fail=graph_instantiate:2:1", 8, 3),
                        Arguments.of(kind, "fail=stream_begin_capture:1:304", 4, 1),
                        Arguments.of(kind, "fail=stream_end_capture:1:900", 4, 1),
                        Arguments.of(kind, "fail=event_create:2:2", 4, 1)));
    }

    /** A driver without a graph now is asked again, after one, two, four executions. */
    @ParameterizedTest
    @MethodSource("shortages")
    void aRefusedGraphIsAskedForAgain(GpuKind kind, String failure, int executions, int asked) {
        withIncrements(kind, failure, (device, fake, buffer, commands) -> {
            for (int i = 1; i <= executions; i++) {
                assertThat(fake.calls("graph_launch"))
                        .as("before execution %d", i)
                        .isZero();
                execute(device, commands, null);
                assertThat(read(buffer)).isEqualTo(i * DISPATCHES);
            }
            assertThat(fake.calls("graph_launch")).isEqualTo(1);
            assertThat(fake.calls("graph_instantiate")).isEqualTo(asked);
        });
    }

    @ParameterizedTest
    @EnumSource
    void aDriverWithoutGraphsIsAskedOnce(GpuKind kind) {
        GpuDrivers driver = GpuDrivers.fake(directory, kind, "fail=graph_instantiate:1:801");
        FakeGpu fake = Objects.requireNonNull(driver.library());
        StreamDevice device = driver.open(DeviceOptions.builder());
        try (device;
                Executable kernels = GpuKernels.load(device);
                Buffer buffer = device.allocator().allocate(PARAMS, 4);
                CommandBuffer one = increments(device, kernels, BufferRef.of(buffer));
                CommandBuffer other = increments(device, kernels, BufferRef.of(buffer))) {
            buffer.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).set(ValueLayout.JAVA_INT, 0, 0);
            for (int i = 0; i < 20; i++) {
                execute(device, i < 10 ? one : other, null);
            }
            assertThat(read(buffer)).isEqualTo(20 * DISPATCHES);
            assertThat(fake.calls("graph_instantiate")).isEqualTo(1);
            assertThat(fake.calls("graph_launch")).isZero();
        }
        driver.assertNothingToComplainOf();
        GpuDrivers.assertNothingLeft(device);
    }

    /** The execution fails, and the next executions give the commands until a graph is made anew. */
    @ParameterizedTest
    @EnumSource
    void anUnlaunchableGraphIsReplaced(GpuKind kind) {
        withIncrements(kind, "fail=graph_launch:2:2", (device, fake, buffer, commands) -> {
            execute(device, commands, null);
            execute(device, commands, null);
            assertThatThrownBy(() -> execute(device, commands, null))
                    .hasMessageContaining("launching a graph failed with OUT_OF_MEMORY (2)");
            for (int i = 0; i < 4; i++) {
                execute(device, commands, null);
            }
            assertThat(read(buffer)).isEqualTo(6 * DISPATCHES);
            assertThat(fake.calls("graph_instantiate")).isEqualTo(2);
            assertThat(fake.calls("graph_launch")).isGreaterThan(2);
        });
    }

    /**
     * GPU-6: a driver may make a graph only once the device has done all its work, without holding up other commands.
     */
    @ParameterizedTest
    @EnumSource
    void aGraphWaitingForTheDeviceHoldsUpNoOther(GpuKind kind) throws Exception {
        GpuDrivers driver = GpuDrivers.fake(directory, kind, "implicit_sync");
        FakeGpu fake = Objects.requireNonNull(driver.library());
        StreamDevice device = driver.open(DeviceOptions.builder().queueCount(3));
        try (device;
                ExecutorService threads = Executors.newCachedThreadPool();
                Executable kernels = GpuKernels.load(device);
                Buffer first = device.allocator().allocate(PARAMS, 4);
                Buffer second = device.allocator().allocate(PARAMS, 4);
                CommandBuffer waiting = increments(device, kernels, BufferRef.of(first));
                CommandBuffer updated = increments(device, kernels, BufferRef.slot(0, 0, 4));
                TimelineSemaphore busy = device.createSemaphore(0, 0);
                Fence held = Fence.at(busy, 1)) {
            execute(device, waiting, null);
            execute(device, updated, BindingTable.of(first));
            execute(device, updated, BindingTable.of(first));
            execute(device, updated, BindingTable.of(second));
            second.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).set(ValueLayout.JAVA_INT, 0, 0);
            driver.hang(0);
            Future<?> made;
            try {
                device.queue(0).fill(null, held, first, 0, 4, 0, 4, 0);
                made = threads.submit(() -> execute(device, 1, waiting, null));
                while (fake.calls("graph_instantiate") < 2) {
                    Thread.onSpinWait();
                }
                threads.submit(() -> execute(device, 2, updated, BindingTable.of(second)))
                        .get(30, TimeUnit.SECONDS);
                assertThat(fake.calls("graph_update")).isEqualTo(1);
                assertThat(read(second)).isEqualTo(DISPATCHES);
                assertThat(held.isReached()).isFalse();
                assertThat(made.isDone()).isFalse();
            } finally {
                driver.goOn();
            }
            held.await();
            made.get();
        }
        driver.assertNothingToComplainOf();
        GpuDrivers.assertNothingLeft(device);
    }

    @ParameterizedTest
    @EnumSource
    void aGraphFollowsAChangeOfBuffersThatLasts(GpuKind kind) {
        GpuDrivers driver = GpuDrivers.fake(directory, kind, "");
        FakeGpu fake = Objects.requireNonNull(driver.library());
        StreamDevice device = driver.open(DeviceOptions.builder());
        try (device;
                Executable kernels = GpuKernels.load(device);
                Buffer first = device.allocator().allocate(PARAMS, 4);
                Buffer second = device.allocator().allocate(PARAMS, 4);
                CommandBuffer commands = increments(device, kernels, BufferRef.slot(0, 0, 4))) {
            for (Buffer each : List.of(first, second)) {
                each.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).set(ValueLayout.JAVA_INT, 0, 0);
                for (int i = 1; i <= 3; i++) {
                    execute(device, commands, BindingTable.of(each));
                    assertThat(read(each)).isEqualTo(i * DISPATCHES);
                }
            }
            assertThat(read(first)).isEqualTo(3 * DISPATCHES);
            assertThat(fake.calls("graph_instantiate")).isEqualTo(1);
            assertThat(fake.calls("graph_update")).isEqualTo(1);
            assertThat(fake.calls("graph_launch")).isEqualTo(4);
        }
        driver.assertNothingToComplainOf();
        GpuDrivers.assertNothingLeft(device);
    }
}
