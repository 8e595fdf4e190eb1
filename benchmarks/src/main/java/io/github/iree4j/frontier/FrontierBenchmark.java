package io.github.iree4j.frontier;

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

/**
 * How much does comparing, joining and checking frontiers cost, per signal and per wait?
 *
 * <p>IREE's C ({@code frontier_benchmark}), ns for 1, 4, 16 and 64 entries: compare 1.6, 3.0, 10.7, 43; merge 2.9, 4.5,
 * 12.0, 29.5; satisfied 1.2, 3.2, 12.3, 55.6. There, as here, both sides have the same axes in separate arrays. The
 * peer's merge includes restoring the target, ours does not; the peer's satisfied check looks epochs up in a sorted
 * list, which corresponds to dominance here.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 10, time = 100, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 50, time = 20, timeUnit = TimeUnit.MILLISECONDS)
@State(Scope.Thread)
public class FrontierBenchmark {
    /** The number of entries. */
    @Param({"1", "4", "16", "64"})
    public int entries;

    private Frontier frontier = Frontier.EMPTY;
    private Frontier equal = Frontier.EMPTY;
    private Frontier ahead = Frontier.EMPTY;
    private Frontier interleaved = Frontier.EMPTY;
    private MutableFrontier gathered = new MutableFrontier();
    private FrontierAccumulator queue = new FrontierAccumulator(Axis.of(1, 0, CausalDomain.HOST, 0));
    private long epoch;

    /** For JMH. */
    public FrontierBenchmark() {}

    /** Creates the frontiers. */
    @Setup(Level.Trial)
    public void prepare() {
        frontier = frontier(2, 0, 100);
        equal = frontier(2, 0, 100);
        ahead = frontier(2, 0, 200);
        interleaved = frontier(2, 1, 100);
        gathered = new MutableFrontier(entries);
        gathered.merge(frontier);
        queue = new FrontierAccumulator(Axis.of(1, 0, CausalDomain.HOST, 0), entries + 1);
        queue.join(frontier, CompletedEpochs.NONE);
        queue.issue(++epoch, CompletedEpochs.NONE);
    }

    private Frontier frontier(int stride, int offset, long epoch) {
        MutableFrontier made = new MutableFrontier(entries);
        for (int i = 0; i < entries; i++) {
            long axis = Axis.of(1, 0, CausalDomain.QUEUE, (long) stride * i + offset);
            made.insertOrRaise(axis, epoch + 10 * i, CompletedEpochs.NONE);
        }
        return made.snapshot();
    }

    /** The same axes and epochs. */
    @Benchmark
    public FrontierOrder compareEqual() {
        return frontier.compare(equal);
    }

    /** No axis in common, alternating. */
    @Benchmark
    public FrontierOrder compareInterleaved() {
        return frontier.compare(interleaved);
    }

    /** Everything is known: the check before a wait is elided, and IREE's satisfied check. */
    @Benchmark
    public boolean dominates() {
        return ahead.dominates(frontier);
    }

    /** Nothing is known and everything has completed: the check when two programs share memory. */
    @Benchmark
    public boolean coversByCompletion() {
        return interleaved.covers(frontier, axis -> Long.MAX_VALUE);
    }

    /** Joins the same axes in place. */
    @Benchmark
    public MutableFrontier merge() {
        gathered.merge(ahead);
        return gathered;
    }

    /** Joins other axes into a new frontier. */
    @Benchmark
    public Frontier mergeInterleaved() {
        return frontier.merge(interleaved, 128);
    }

    /** The work of a FIFO queue per operation: joins a wait, assigns an epoch, takes a snapshot. */
    @Benchmark
    public Frontier joinAndIssue() {
        queue.join(ahead, CompletedEpochs.NONE);
        return queue.issue(++epoch, CompletedEpochs.NONE);
    }
}
