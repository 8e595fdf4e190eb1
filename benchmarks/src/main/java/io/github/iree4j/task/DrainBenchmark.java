package io.github.iree4j.task;

import java.util.concurrent.TimeUnit;
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
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How much does a worker pay between two drains, and how much does a thread pay to make a process runnable? A single
 * stepped thread, without contention. IREE's design aims at 1 ns to check an empty list, 10 for an activation, 13
 * around a drain, 40 for 64 slots.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Thread)
public class DrainBenchmark {
    /** A process without work, returning a given result. */
    private static final class Idling extends TaskProcess {
        DrainResult result;

        Idling(ProcessOptions options, DrainResult result) {
            super(options);
            this.result = result;
        }

        @Override
        protected DrainResult drain(WorkerContext worker) {
            return result;
        }
    }

    private SteppedExecutor empty = stepped();
    private SteppedExecutor one = stepped();
    private SteppedExecutor full = stepped();
    private SteppedExecutor lists = stepped();
    private SteppedExecutor sleepers = stepped();
    private ProcessList list = lists.executor().immediate();
    private Idling listed = new Idling(ProcessOptions.named("listed"), DrainResult.IDLE);
    private Idling slotted = new Idling(ProcessOptions.named("slotted").placed(Placement.COMPUTE), DrainResult.IDLE);
    private Idling suspended = new Idling(ProcessOptions.named("suspended").suspended(1), DrainResult.IDLE);

    /** For JMH. */
    public DrainBenchmark() {}

    private static SteppedExecutor stepped() {
        return ProcessExecutor.builder(1).buildStepped();
    }

    /** Executors without a process, with a process always at work, and with 64 full slots. */
    @Setup(Level.Iteration)
    public void create() {
        empty = stepped();
        one = stepped();
        full = stepped();
        lists = stepped();
        sleepers = stepped();
        list = lists.executor().immediate();
        one.executor().submit(new Idling(ProcessOptions.named("busy").placed(Placement.COMPUTE), DrainResult.WORKED));
        for (int i = 0; i < 64; i++) {
            Idling process = new Idling(ProcessOptions.named("p" + i).placed(Placement.COMPUTE), DrainResult.WORKED);
            full.executor().submit(process);
            process.enter(); // a drainer inside keeps the process from sleeping and ending
            process.setTerminal();
        }
        listed = new Idling(ProcessOptions.named("listed"), DrainResult.IDLE);
        slotted = new Idling(ProcessOptions.named("slotted").placed(Placement.COMPUTE), DrainResult.IDLE);
        suspended = new Idling(ProcessOptions.named("suspended").suspended(1), DrainResult.IDLE);
        sleepers.executor().submit(listed);
        sleepers.executor().submit(slotted);
        lists.executor().submit(suspended);
        sleepers.runUntilAsleep();
    }

    /** Cancels the remaining processes. */
    @TearDown(Level.Iteration)
    public void close() {
        empty.close();
        sleepers.close();
    }

    /** The boundary check: is there anything on the list? */
    @Benchmark
    public boolean lookAtEmptyList() {
        return list.isEmpty();
    }

    /** As in the worker. */
    @Benchmark
    public @Nullable TaskProcess popFromEmptyList() {
        return list.pop();
    }

    /**
     * The last event of a suspended process: moves the process to the list and checks for sleeping workers. Then undoes
     * the activation; the undoing is not part of an activation.
     */
    @Benchmark
    public boolean activateAndTakeBack() {
        boolean activated = suspended.wake();
        takeBack();
        return activated;
    }

    /** The second half of the benchmark above, without the pop. */
    @Benchmark
    public void takeBackAlone() {
        suspended.suspendOnceVolatile();
        suspended.resumeOnceVolatile();
        if (suspended.request() == ProcessSchedule.Request.PLACE) {
            suspended.own();
            suspended.ownedSleeps();
        }
    }

    private void takeBack() {
        TaskProcess process = list.pop();
        if (process != null) {
            process.own();
            process.ownedSleeps();
        }
        suspended.suspendOnceVolatile();
    }

    /** A whole turn of a worker with empty list and slots. */
    @Benchmark
    public boolean lookAtNothing() {
        empty.executor().worker(0).turn();
        return true;
    }

    /** A whole turn draining the only process in a slot, a process without work. */
    @Benchmark
    public boolean drainOneInASlot() {
        return one.executor().worker(0).turn();
    }

    /** A scan of 64 slots; none of the processes can be entered. */
    @Benchmark
    public boolean lookAt64Slots() {
        return full.executor().worker(0).turn();
    }

    /** A sleeping process is scheduled, found on the list, drained, and sleeps again. */
    @Benchmark
    public boolean scheduleAndDrainListed() {
        listed.schedule();
        return sleepers.executor().worker(0).turn();
    }

    /** The same with a slot. */
    @Benchmark
    public boolean scheduleAndDrainSlotted() {
        slotted.schedule();
        return sleepers.executor().worker(0).turn();
    }
}
