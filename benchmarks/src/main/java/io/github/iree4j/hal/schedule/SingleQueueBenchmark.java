package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.flight.FlightRecorder;
import io.github.iree4j.flight.RecorderOptions;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.virtual.VirtualDevice;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
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
 * How much does the scheduler cost per operation for a chain of 1,000 operations on a single stream, each waiting for
 * the operation before? And how much does the flight recorder add? The chain is submitted together, then completed
 * together, without hardware. With {@code -prof gc}.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Thread)
public class SingleQueueBenchmark {
    private static final int OPERATIONS = 1000;

    /** Whether a flight recorder is open. */
    @Param({"off", "on"})
    public String recorder;

    private FrontierTracker tracker;
    private VirtualDevice device;
    private QueueScheduler stream;
    private TimelineSemaphore timeline;
    private @Nullable FlightRecorder open;
    private long epoch;

    /** For JMH. */
    @SuppressWarnings("NullAway.Init") // JMH calls open()
    public SingleQueueBenchmark() {}

    /**
     * Creates the stream, and the recorder.
     *
     * @throws IOException never: the recorder has no file
     */
    @Setup
    public void open() throws IOException {
        tracker = FrontierTracker.create();
        device = VirtualDevice.builder().build();
        SchedulingDomain domain =
                SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, Frontier.DEFAULT_CAPACITY);
        stream = QueueScheduler.create(domain, device, device, new NoHardware());
        timeline = TimelineSemaphore.create(0);
        open = recorder.equals("on") ? FlightRecorder.open(domain, RecorderOptions.DEFAULTS) : null;
    }

    /** The values of a single timeline. */
    @Benchmark
    @OperationsPerInvocation(OPERATIONS)
    public long oneTimeline() {
        long value = timeline.value();
        Fence before = submit(null, Fence.at(timeline, ++value));
        for (int i = 1; i < OPERATIONS; i++) {
            before = submit(before, Fence.at(timeline, ++value));
        }
        return over(before);
    }

    /** A timeline per operation, as in compiled programs. */
    @Benchmark
    @OperationsPerInvocation(OPERATIONS)
    public long aTimelineForEach() {
        Fence before = submit(null, Fence.adopt(TimelineSemaphore.create(0), 1));
        for (int i = 1; i < OPERATIONS; i++) {
            before = submit(before, Fence.adopt(TimelineSemaphore.create(0), 1));
        }
        return over(before);
    }

    private Fence submit(@Nullable Fence before, Fence after) {
        stream.submit(before, after, NoHardware.Nothing::new);
        if (before != null) {
            before.close();
        }
        epoch++;
        return after;
    }

    private long over(Fence last) {
        stream.completedUpTo(epoch);
        long reached = last.semaphore(0).value();
        last.close();
        return reached;
    }

    /** Closes the stream. */
    @TearDown
    public void close() {
        if (open != null) {
            open.close();
        }
        stream.close();
        timeline.close();
        device.close();
        tracker.close();
    }
}
