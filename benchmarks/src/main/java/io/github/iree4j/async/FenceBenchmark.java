package io.github.iree4j.async;

import java.util.ArrayList;
import java.util.List;
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
import org.openjdk.jmh.annotations.Warmup;

/** How much does a fence of a single point or several cost: to make, signal and close, or only to make and close? */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Thread)
public class FenceBenchmark {
    /** The number of points. */
    @Param({"1", "2", "8"})
    public int points;

    private final List<TimelineSemaphore> timelines = new ArrayList<>();
    private long next = 1;

    /** For JMH. */
    public FenceBenchmark() {}

    /** A timeline for each point. */
    @Setup(Level.Trial)
    public void create() {
        for (int i = 0; i < points; i++) {
            timelines.add(TimelineSemaphore.create(0));
        }
    }

    private Fence fence(long value) {
        if (points == 1) {
            return Fence.at(timelines.getFirst(), value);
        }
        List<Fence.Entry> entries = new ArrayList<>(points);
        for (TimelineSemaphore timeline : timelines) {
            entries.add(new Fence.Entry(timeline, value));
        }
        return Fence.of(entries);
    }

    /** Made and closed. */
    @Benchmark
    public void make() {
        fence(next).close();
    }

    /** Made, signalled and closed. */
    @Benchmark
    public void signal() {
        try (Fence fence = fence(next++)) {
            fence.signalOrFail();
        }
    }
}
