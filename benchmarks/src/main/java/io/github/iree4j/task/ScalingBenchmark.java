package io.github.iree4j.task;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
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
import org.openjdk.jmh.infra.Blackhole;

/**
 * How long do 512 tiles of about a microsecond take, a tile per drain, with 1 to N workers? More workers than
 * processors show the cost of oversubscription.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Thread)
public class ScalingBenchmark {
    private static final int TILES = 512;
    private static final int WORK_PER_TILE = 400; // of Blackhole.consumeCPU, about a microsecond

    /** Draining threads. */
    @Param({"1", "2", "4", "8"})
    public int workers;

    private static final class Tiles extends TaskProcess {
        final AtomicInteger claimed = new AtomicInteger();
        final AtomicInteger done = new AtomicInteger();
        volatile @Nullable Thread waiter;

        Tiles(int workers) {
            super(ProcessOptions.named("tiles").wanting(workers).placed(Placement.COMPUTE));
        }

        @Override
        protected DrainResult drain(WorkerContext worker) {
            if (claimed.getAndIncrement() >= TILES) {
                return DrainResult.IDLE;
            }
            Blackhole.consumeCPU(WORK_PER_TILE);
            return done.incrementAndGet() == TILES ? DrainResult.COMPLETED : DrainResult.WORKED;
        }

        @Override
        protected void released() {
            LockSupport.unpark(waiter);
        }
    }

    private ProcessExecutor executor = ProcessExecutor.builder(1).build();

    /** For JMH. */
    public ScalingBenchmark() {
        executor.close();
    }

    /** Starts the workers. */
    @Setup(Level.Trial)
    public void create() {
        executor = ProcessExecutor.builder(workers).build();
    }

    /** Ends the workers. */
    @TearDown(Level.Trial)
    public void close() {
        executor.close();
    }

    /** From the creation of the process to the release; the caller sleeps meanwhile. */
    @Benchmark
    public void tiles() {
        Tiles tiles = new Tiles(workers);
        tiles.waiter = Thread.currentThread();
        executor.submit(tiles);
        while (!tiles.isReleased()) {
            LockSupport.park(tiles);
        }
    }

    /** The same work on a single thread, without tasks. */
    @Benchmark
    public void plainLoop() {
        for (int i = 0; i < TILES; i++) {
            Blackhole.consumeCPU(WORK_PER_TILE);
        }
    }
}
