package io.github.iree4j.task;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Group;
import org.openjdk.jmh.annotations.GroupThreads;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Does signalling or draining a process slow down the process's scanners? In a process the words are 128 bytes apart;
 * the twin has both words side by side, like a class without padding.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Group)
public class CacheLineBenchmark {
    private static final class Padded extends TaskProcess {
        Padded() {
            super(ProcessOptions.named("padded").suspended(1).placed(Placement.COMPUTE));
        }

        @Override
        protected DrainResult drain(WorkerContext worker) {
            return DrainResult.IDLE;
        }
    }

    /** The two words of a process without padding. */
    private static final class SideBySide {
        static final VarHandle ACTIVATION;
        static final VarHandle SCHEDULE;

        static {
            try {
                MethodHandles.Lookup lookup = MethodHandles.lookup();
                ACTIVATION = lookup.findVarHandle(SideBySide.class, "activation", long.class);
                SCHEDULE = lookup.findVarHandle(SideBySide.class, "schedule", long.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        @SuppressWarnings("unused") // only through ACTIVATION
        private long activation;

        @SuppressWarnings("unused") // only through SCHEDULE
        private long schedule;
    }

    private final Padded padded = new Padded();
    private final SideBySide sideBySide = new SideBySide();

    /** For JMH. */
    public CacheLineBenchmark() {}

    /** Checks whether the process may be entered. */
    @Benchmark
    @Group("padded")
    @GroupThreads(1)
    public boolean paddedScanner() {
        return padded.isOpenAcquire();
    }

    /** Signals an event and undoes the signal. */
    @Benchmark
    @Group("padded")
    @GroupThreads(1)
    public void paddedSignaller() {
        padded.suspendOnceVolatile();
        padded.resumeOnceVolatile();
    }

    /** As {@link #paddedScanner}. */
    @Benchmark
    @Group("sideBySide")
    @GroupThreads(1)
    public boolean sideBySideScanner() {
        return ProcessSchedule.mayDrain((long) SideBySide.SCHEDULE.getAcquire(sideBySide));
    }

    /** As {@link #paddedSignaller}. */
    @Benchmark
    @Group("sideBySide")
    @GroupThreads(1)
    public void sideBySideSignaller() {
        SideBySide.ACTIVATION.getAndAdd(sideBySide, 256L);
        SideBySide.ACTIVATION.getAndAdd(sideBySide, -256L);
    }

    /** A drainer enters and leaves. */
    @Benchmark
    @Group("paddedDraining")
    @GroupThreads(1)
    public void paddedDrainer() {
        padded.enter();
        padded.leave(true);
    }

    /** A signaller beside a drainer. */
    @Benchmark
    @Group("paddedDraining")
    @GroupThreads(1)
    public void paddedDrainingSignaller() {
        padded.suspendOnceVolatile();
        padded.resumeOnceVolatile();
    }

    /** As {@link #paddedDrainer}. */
    @Benchmark
    @Group("sideBySideDraining")
    @GroupThreads(1)
    public void sideBySideDrainer() {
        SideBySide.SCHEDULE.getAndAdd(sideBySide, 1L);
        long seen = (long) SideBySide.SCHEDULE.getVolatile(sideBySide);
        SideBySide.SCHEDULE.compareAndSet(sideBySide, seen, seen - 1);
    }

    /** As {@link #paddedDrainingSignaller}. */
    @Benchmark
    @Group("sideBySideDraining")
    @GroupThreads(1)
    public void sideBySideDrainingSignaller() {
        SideBySide.ACTIVATION.getAndAdd(sideBySide, 256L);
        SideBySide.ACTIVATION.getAndAdd(sideBySide, -256L);
    }
}
