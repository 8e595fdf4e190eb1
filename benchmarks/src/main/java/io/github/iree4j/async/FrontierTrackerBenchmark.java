package io.github.iree4j.async;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.CompletedEpochs;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.MutableFrontier;
import io.github.iree4j.status.IreeException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How much does reporting retired work cost, and how much a wait for a frontier?
 *
 * <p>IREE's C ({@code frontier_tracker_benchmark}), ns: advance without waiters 6.1, satisfied wait 13.6 (a single
 * entry). The peer's advance with a waiter missing a later epoch of another axis takes 17, because the peer checks
 * every waiter; ours checks the smallest epoch wanted on the axis.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 10, time = 100, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 50, time = 20, timeUnit = TimeUnit.MILLISECONDS)
@State(Scope.Thread)
public class FrontierTrackerBenchmark {
    private static final int AXES = 12;

    private final FrontierTracker tracker = FrontierTracker.create();
    private final long[] axes = new long[AXES];
    private long epoch;
    private Frontier reached = Frontier.EMPTY;
    private Frontier reachedAll = Frontier.EMPTY;
    private int called;
    private final Consumer<@Nullable IreeException> callback = failure -> called++;

    /** For JMH. */
    public FrontierTrackerBenchmark() {}

    /** Registers axes; a waiter of one axis is never called. */
    @Setup(Level.Trial)
    public void prepare() {
        MutableFrontier all = new MutableFrontier();
        for (int i = 0; i < AXES; i++) {
            axes[i] = Axis.of(1, 0, CausalDomain.QUEUE, i);
            tracker.register(axes[i]);
            if (i >= 2) {
                tracker.advance(axes[i], 10);
                all.insertOrRaise(axes[i], 10, CompletedEpochs.NONE);
            }
        }
        reached = Frontier.of(axes[2], 10);
        reachedAll = all.snapshot();
        tracker.whenCompleted(Frontier.of(axes[1], Long.MAX_VALUE - 1), callback);
    }

    /** The axis has no waiter. */
    @Benchmark
    public void advance() {
        tracker.advance(axes[0], ++epoch);
    }

    /** The axis has a waiter for a later epoch. */
    @Benchmark
    public void advanceWithWaiterForLater() {
        tracker.advance(axes[1], ++epoch);
    }

    /** A single waiter registers and is called. */
    @Benchmark
    public int waitAndAdvance() {
        tracker.whenCompleted(Frontier.of(axes[0], ++epoch), callback);
        tracker.advance(axes[0], epoch);
        return called;
    }

    /** A single axis. */
    @Benchmark
    public long completed() {
        return tracker.completed(axes[2]);
    }

    /** A single entry, reached. */
    @Benchmark
    public Cancellation waitReached() {
        return tracker.whenCompleted(reached, callback);
    }

    /** Ten entries, reached. */
    @Benchmark
    public Cancellation waitAllReached() {
        return tracker.whenCompleted(reachedAll, callback);
    }

    /** Registers a wait and cancels the wait. */
    @Benchmark
    public boolean waitAndCancel() {
        return tracker.whenCompleted(Frontier.of(axes[1], Long.MAX_VALUE), callback)
                .cancel();
    }
}
