package io.github.iree4j.hal.vulkan;

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
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.DriverProvider;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How much does a Vulkan device cost through our queues, compared with the same work in C on the same driver? {@code
 * src/main/c/vulkan_peer.c} has measurements of the same names; {@code bin/bench-vulkan} runs both and prints the
 * ratios. The mode is SampleTime, because C prints medians.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class VulkanBenchmark {
    private static final int DISPATCHES = 1000;
    private static final long SMALL = 4096;
    private static final long LARGE = 64L << 20;

    private final Arena arena = Arena.ofShared();
    private Device device;
    private DeviceQueue queue;
    private Executable executable;
    private TimelineSemaphore timeline;
    private long ticket;
    private Buffer[] small;
    private Buffer[] large;
    private CommandBuffer one;
    private CommandBuffer many;
    private BindingTable bindings;
    private HalFile source;
    private HalFile target;

    /** For JMH. */
    @SuppressWarnings("NullAway.Init") // JMH calls open()
    public VulkanBenchmark() {}

    /**
     * Opens the device and records reusable command buffers.
     *
     * @throws IOException when the shader is missing
     */
    @Setup(Level.Trial)
    public void open() throws IOException {
        DriverProvider driver = ServiceLoader.load(DriverProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(each -> each.name().equals("vulkan"))
                .findFirst()
                .orElseThrow();
        device = driver.open("vulkan", DeviceOptions.DEFAULTS);
        queue = device.queue(0);
        try (InputStream in = VulkanBenchmark.class.getResourceAsStream("/vulkan/scale.spirv-fb")) {
            executable = device.createExecutable(new ExecutableParams(
                    "vulkan-spirv-fb",
                    MemorySegment.ofArray(Objects.requireNonNull(in).readAllBytes())));
        }
        timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
        small = new Buffer[] {buffer(SMALL), buffer(SMALL)};
        large = new Buffer[] {buffer(LARGE), buffer(LARGE)};
        bindings = BindingTable.of(small);
        one = commands(0, 1);
        many = commands(0, DISPATCHES);
        source = HalFile.ofMemory(arena.allocate(LARGE, 4096), MemoryAccess.READ, null);
        target = HalFile.ofMemory(arena.allocate(LARGE, 4096), MemoryAccess.READ | MemoryAccess.WRITE, null);
    }

    private Buffer buffer(long size) {
        Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, size);
        buffer.map(MemoryAccess.WRITE, 0, size).fill((byte) 1);
        return buffer;
    }

    private CommandBuffer commands(int modes, int dispatches) {
        CommandBuffer commands =
                device.createCommandBuffer(modes, CommandBuffer.TRANSFER | CommandBuffer.DISPATCH, -1, 2);
        for (int i = 0; i < dispatches; i++) {
            if (i > 0) {
                commands.executionBarrier(CommandBuffer.STAGE_COMMAND_RETIRE, CommandBuffer.STAGE_COMMAND_ISSUE, 0);
            }
            commands.dispatch(
                    executable,
                    0,
                    DispatchConfig.of(1, 1, 1),
                    new int[] {1, i},
                    List.of(BufferRef.slot(i & 1, 0, Buffer.WHOLE), BufferRef.slot(i & 1 ^ 1, 0, Buffer.WHOLE)),
                    0);
        }
        commands.finish();
        return commands;
    }

    /** Closes all. */
    @TearDown(Level.Trial)
    public void close() {
        one.close();
        many.close();
        source.close();
        target.close();
        for (Buffer[] pair : new Buffer[][] {small, large}) {
            pair[0].close();
            pair[1].close();
        }
        executable.close();
        timeline.close();
        device.close();
        arena.close();
    }

    private Fence next() {
        return Fence.at(timeline, ++ticket);
    }

    /** Submits a prerecorded command buffer of a single dispatch, and waits for the signal. */
    @Benchmark
    public void executeAndWait() {
        try (Fence done = next()) {
            queue.execute(null, done, one, bindings, 0);
            done.await();
        }
    }

    /** Submits a fill of 4 KiB, recorded each time, and waits for the signal. */
    @Benchmark
    public void fillAndWait() {
        try (Fence done = next()) {
            queue.fill(null, done, small[0], 0, SMALL, 7, 4, 0);
            done.await();
        }
    }

    /** Each of 1,000 dispatches of a prerecorded command buffer, with barriers between. */
    @Benchmark
    @OperationsPerInvocation(DISPATCHES)
    public void dispatchInCommandBuffer() {
        try (Fence done = next()) {
            queue.execute(null, done, many, bindings, 0);
            done.await();
        }
    }

    /** The same, recorded each time. */
    @Benchmark
    @OperationsPerInvocation(DISPATCHES)
    public void dispatchRecordedAndExecuted() {
        try (CommandBuffer commands = commands(CommandBuffer.ONE_SHOT, DISPATCHES);
                Fence done = next()) {
            queue.execute(null, done, commands, bindings, 0);
            done.await();
        }
    }

    /** 64 MiB from a buffer of the device to another. */
    @Benchmark
    public void copy64MiB() {
        try (Fence done = next()) {
            queue.copy(null, done, large[0], 0, large[1], 0, LARGE, 0);
            done.await();
        }
    }

    /** 64 MiB of the host's memory into a buffer of the device, in queue order. */
    @Benchmark
    public void upload64MiB() {
        try (Fence done = next()) {
            queue.read(null, done, source, 0, large[0], 0, LARGE, 0);
            done.await();
        }
    }

    /** 64 MiB of a buffer of the device into the host's memory, in queue order. */
    @Benchmark
    public void download64MiB() {
        try (Fence done = next()) {
            queue.write(null, done, large[1], 0, target, 0, LARGE, 0);
            done.await();
        }
    }
}
