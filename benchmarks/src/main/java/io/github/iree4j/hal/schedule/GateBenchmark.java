package io.github.iree4j.hal.schedule;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
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
 * How long does signalling a value take that 1,000 operations of a queue wait for?
 *
 * <p>Each operation fills 4 KiB and signals its own timeline; they run after the measured part.
 */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 3, time = 3)
@Measurement(iterations = 5, time = 3)
@State(Scope.Thread)
public class GateBenchmark {
    private static final int OPERATIONS = 1000;
    private static final int BYTES = 4096;

    /** The device's driver. */
    @Param({"local", "vulkan"})
    public String driver = "local";

    private IreeRuntime runtime;
    private DeviceQueue queue;
    private Buffer target;
    private TimelineSemaphore gate;
    private TimelineSemaphore done;
    private long round;

    /** For JMH. */
    @SuppressWarnings("NullAway.Init") // JMH calls open()
    public GateBenchmark() {}

    /** Opens the device. */
    @Setup
    public void open() {
        runtime = IreeRuntime.builder().device(driver).build();
        Device device = runtime.device();
        queue = device.queue(0);
        target = device.allocator().allocate(BufferParams.DEFAULT, BYTES);
        gate = TimelineSemaphore.create(0);
        done = TimelineSemaphore.create(0);
    }

    /** Submits the waiting operations. */
    @Setup(Level.Invocation)
    public void submit() {
        round++;
        for (int i = 0; i < OPERATIONS; i++) {
            try (Fence wait = Fence.at(gate, round);
                    Fence signal =
                            i == OPERATIONS - 1 ? Fence.at(done, round) : Fence.adopt(TimelineSemaphore.create(0), 1)) {
                queue.fill(wait, signal, target, 0, BYTES, i, Integer.BYTES, 0);
            }
        }
    }

    /** Signals. */
    @Benchmark
    public void signalBeforeAThousand() {
        gate.signal(round);
    }

    /** Waits until all have run. */
    @TearDown(Level.Invocation)
    public void await() {
        done.await(round);
    }

    /** Closes the device. */
    @TearDown
    public void close() {
        target.close();
        gate.close();
        done.close();
        runtime.close();
    }
}
