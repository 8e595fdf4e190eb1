package io.github.iree4j.hal.local;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.flight.FlightRecorder;
import io.github.iree4j.flight.RecorderOptions;
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
import io.github.iree4j.hal.spi.DeviceOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How much does the HAL's part of a synchronous call cost: a new timeline, a result allocated on the queue, a reusable
 * command buffer with a single dispatch of four workgroups, and the wait for the result? And how much does the flight
 * recorder add ({@code -p recorder=off,on}), and the recording of the dispatches of one in so many executions ({@code -p
 * recorder=on -p dispatches=0,16,1})?
 *
 * <p>The kernel adds two floats; the source is {@code native-shim/test/kernels/basic.c}, built by {@code
 * bin/cmake-native release}. Run from the root of the repository.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Thread)
public class ExecuteBenchmark {
    /** Whether a flight recorder is open. */
    @Param("off")
    public String recorder;

    /** Of so many executions one records its dispatches; 0 for none. */
    @Param("16")
    public int dispatches;

    private @Nullable FlightRecorder open;

    private final Device device = new LocalDriverProvider().open("local", DeviceOptions.DEFAULTS);
    private final DeviceQueue queue = device.queue(0);
    private final Buffer a = device.allocator().allocate(BufferParams.DEFAULT, 16);
    private final Buffer b = device.allocator().allocate(BufferParams.DEFAULT, 16);
    private final CommandBuffer commands = device.createCommandBuffer(0, CommandBuffer.DISPATCH, -1, 3);
    private final BindingTable bindings = new BindingTable(3);
    private final TimelineSemaphore timeline = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
    private long value;

    /** Records the command buffer. */
    @SuppressWarnings("NullAway.Init") // JMH sets the parameter
    public ExecuteBenchmark() {
        Path kernel = Path.of("native-shim/build/release/test/kernels/basic.so");
        try (Executable executable = device.createExecutable(new ExecutableParams(
                "embedded-elf-x86_64", MemorySegment.ofArray(Files.readAllBytes(kernel)), null, new int[1]))) {
            commands.dispatch(
                    executable,
                    executable.lookup("add"),
                    DispatchConfig.of(4, 1, 1),
                    new int[0],
                    List.of(BufferRef.slot(0, 0, 16), BufferRef.slot(1, 0, 16), BufferRef.slot(2, 0, 16)),
                    0);
            commands.finish();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Opens the recorder.
     *
     * @throws IOException never: the recorder has no file
     */
    @Setup
    public void open() throws IOException {
        RecorderOptions options = RecorderOptions.DEFAULTS.withDispatches(dispatches);
        open = recorder.equals("on") ? FlightRecorder.open(device.schedulingDomain(), options) : null;
    }

    /** Frees all objects. */
    @TearDown
    public void close() {
        if (open != null) {
            open.close();
        }
        timeline.close();
        commands.close();
        a.close();
        b.close();
        device.close();
    }

    /** The calls of a compiled program. */
    @Benchmark
    public void call() {
        try (TimelineSemaphore semaphore = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence allocated = Fence.at(semaphore, 1);
                Fence done = Fence.at(semaphore, 2);
                Buffer result = queue.alloca(null, allocated, BufferParams.DEFAULT, 16, 0)) {
            bindings.clear();
            bindings.add(a, 0, 16).add(b, 0, 16).add(result, 0, 16);
            queue.execute(allocated, done, commands, bindings, 0);
            done.await();
        }
    }

    /** From the submission of an empty barrier to the barrier's signal. */
    @Benchmark
    public void barrier() {
        try (Fence done = Fence.at(timeline, ++value)) {
            queue.barrier(null, done, 0);
            done.await();
        }
    }
}
