package io.github.iree4j.hal.local;

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
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How much does the step from a dispatch to the next cost on workers: within a command buffer, from a command buffer to
 * the next, and from workgroup to workgroup?
 *
 * <p>The kernel adds two floats; the source is {@code native-shim/test/kernels/basic.c}, built by {@code
 * bin/cmake-native release}. Run from the root of the repository. The submitting thread does none of the work.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Thread)
public class DispatchBenchmark {
    private static final int CHAIN = 1000;
    private static final int WORKGROUPS = 100_000;

    /** Workers of the device. */
    @Param({"1", "2"})
    public int workers;

    private Device device;
    private DeviceQueue queue;
    private Buffer data;
    private Executable executable;
    private CommandBuffer chain;
    private CommandBuffer single;
    private CommandBuffer wide;
    private BindingTable bindings;
    private TimelineSemaphore timeline;
    private long value;

    /** For JMH. */
    @SuppressWarnings("NullAway.Init") // JMH calls open()
    public DispatchBenchmark() {}

    /** Opens the device and records. */
    @Setup
    public void open() {
        device = new LocalDriverProvider()
                .open(
                        "local",
                        DeviceOptions.builder()
                                .with(CpuOptions.DEFAULTS.workers(workers).inlineWork(Duration.ZERO))
                                .build());
        queue = device.queue(0);
        timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
        long bytes = 4L * WORKGROUPS;
        data = device.allocator().allocate(BufferParams.DEFAULT, 3 * bytes);
        bindings = new BindingTable(1).add(data, 0, Buffer.WHOLE);
        try {
            executable = device.createExecutable(new ExecutableParams(
                    "embedded-elf-x86_64",
                    MemorySegment.ofArray(
                            Files.readAllBytes(Path.of("native-shim/build/release/test/kernels/basic.so"))),
                    null,
                    new int[1]));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        chain = record(CHAIN, 1);
        single = record(1, 1);
        wide = record(1, WORKGROUPS);
    }

    private CommandBuffer record(int dispatches, int workgroups) {
        CommandBuffer commands = device.createCommandBuffer(0, CommandBuffer.DISPATCH, -1, 1);
        long bytes = 4L * WORKGROUPS;
        for (int i = 0; i < dispatches; i++) {
            commands.dispatch(
                    executable,
                    executable.lookup("add"),
                    DispatchConfig.of(workgroups, 1, 1),
                    new int[0],
                    List.of(
                            BufferRef.slot(0, 0, bytes),
                            BufferRef.slot(0, bytes, bytes),
                            BufferRef.slot(0, 2 * bytes, bytes)),
                    0);
            commands.executionBarrier(CommandBuffer.STAGE_COMMAND_RETIRE, CommandBuffer.STAGE_COMMAND_ISSUE, 0);
        }
        commands.finish();
        return commands;
    }

    /** Closes everything. */
    @TearDown
    public void close() {
        chain.close();
        single.close();
        wide.close();
        executable.close();
        data.close();
        timeline.close();
        device.close();
    }

    private void run(CommandBuffer commands) {
        try (Fence done = Fence.at(timeline, ++value)) {
            queue.execute(null, done, commands, bindings, 0);
            done.await();
        }
    }

    /** From a dispatch of a command buffer to the next, with a barrier between; per dispatch, of a thousand. */
    @Benchmark
    @OperationsPerInvocation(CHAIN)
    public void inOneCommandBuffer() {
        run(chain);
    }

    /**
     * From a command buffer of a single dispatch to the next, which waits for the first; per command buffer, of a
     * thousand submitted before the first began.
     */
    @Benchmark
    @OperationsPerInvocation(CHAIN)
    public void acrossCommandBuffers() {
        long first = ++value;
        for (int i = 0; i < CHAIN; i++) {
            try (Fence wait = Fence.at(timeline, value);
                    Fence done = Fence.at(timeline, ++value)) {
                queue.execute(wait, done, single, bindings, 0);
            }
        }
        timeline.signal(first);
        timeline.await(value);
    }

    /** A workgroup of a dispatch of a hundred thousand. */
    @Benchmark
    @OperationsPerInvocation(WORKGROUPS)
    public void workgroup() {
        run(wide);
    }

    /** A command buffer of a single dispatch, from submission to the wake-up of the waiter. */
    @Benchmark
    public void submitAndWait() {
        run(single);
    }
}
