package io.github.iree4j.task;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
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
 * How much time passes from the creation of work until a worker has done the work and the caller knows? IREE's C on a
 * machine of the same kind: 4.2 µs to wake a worker and back, 4.9 µs for consecutive processes.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Thread)
public class WakeBenchmark {
    /** Longest spin of the worker in microseconds; with 0 the worker sleeps each time. */
    @Param({"0", "20"})
    public int spin;

    /** Counts the drains. */
    private static final class Counting extends TaskProcess {
        final AtomicLong done = new AtomicLong();
        private final DrainResult result;

        Counting(ProcessOptions options, DrainResult result) {
            super(options);
            this.result = result;
        }

        @Override
        protected DrainResult drain(WorkerContext worker) {
            done.lazySet(done.getPlain() + 1);
            return result;
        }
    }

    /** Parks, counts, parks. */
    private static final class Parked extends Thread {
        final AtomicLong done = new AtomicLong();
        volatile boolean asleep;
        volatile boolean over;

        Parked() {
            setDaemon(true);
        }

        @Override
        public void run() {
            while (!over) {
                asleep = true;
                while (asleep && !over) {
                    LockSupport.park(this);
                }
                done.lazySet(done.getPlain() + 1);
            }
        }
    }

    private Parked parked = new Parked();
    private ProcessExecutor executor = ProcessExecutor.builder(1).build();
    private Counting listed = new Counting(ProcessOptions.named("listed"), DrainResult.IDLE);
    private Counting slotted = new Counting(ProcessOptions.named("slotted"), DrainResult.IDLE);

    /** For JMH. */
    public WakeBenchmark() {
        executor.close();
    }

    /** A single worker, and sleeping processes. */
    @Setup(Level.Trial)
    public void create() {
        executor = ProcessExecutor.builder(1)
                .spin(Duration.of(spin, ChronoUnit.MICROS))
                .build();
        listed = new Counting(ProcessOptions.named("listed"), DrainResult.IDLE);
        slotted = new Counting(ProcessOptions.named("slotted").placed(Placement.COMPUTE), DrainResult.IDLE);
        parked = new Parked();
        parked.start();
        executor.submit(listed);
        executor.submit(slotted);
    }

    /** Ends the worker. */
    @TearDown(Level.Trial)
    public void close() {
        executor.close();
        parked.over = true;
        LockSupport.unpark(parked);
    }

    private void awaitAsleep() {
        while (spin == 0 && executor.sleepingWorkers() == 0) {
            Thread.onSpinWait();
        }
    }

    /** Round trip through the list. */
    @Benchmark
    public void wakeThroughTheList() {
        awaitAsleep();
        long before = listed.done.get();
        listed.schedule();
        while (listed.done.get() == before) {
            Thread.onSpinWait();
        }
    }

    /** The cost of the JVM and the system: unparking a counting thread. */
    @Benchmark
    public void bareUnpark() {
        long before = parked.done.get();
        while (!parked.asleep) {
            Thread.onSpinWait();
        }
        parked.asleep = false;
        LockSupport.unpark(parked);
        while (parked.done.get() == before) {
            Thread.onSpinWait();
        }
    }

    /** Round trip through a slot. */
    @Benchmark
    public void wakeThroughASlot() {
        awaitAsleep();
        long before = slotted.done.get();
        slotted.schedule();
        while (slotted.done.get() == before) {
            Thread.onSpinWait();
        }
    }

    /** Consecutive processes, each from creation to release. */
    @Benchmark
    public void oneProcessAfterAnother() {
        awaitAsleep();
        Counting ending = new Counting(ProcessOptions.named("ending"), DrainResult.COMPLETED);
        executor.submit(ending);
        while (!ending.isReleased()) {
            Thread.onSpinWait();
        }
    }
}
