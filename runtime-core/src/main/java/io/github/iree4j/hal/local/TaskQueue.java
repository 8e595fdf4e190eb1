package io.github.iree4j.hal.local;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.WaitHelper;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.hal.schedule.UnorderedBackend;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.task.ProcessExecutor;
import io.github.iree4j.task.TaskProcess;
import io.github.iree4j.task.WorkerContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Runs the operations of one queue on the workers of an executor. What may start is known from its scheduler; nothing is looked for.
 *
 * <p>{@link QueueProcess} takes operations in the order in which they may start and does what is short or must not be shared itself.
 * {@link StreamProcess} does what one worker can do, on as many of them as there is work for. A {@link Lane} runs a recording on several
 * workers; there are some of them, since recordings that do not depend on each other may run at the same time.
 *
 * <p>What may block, host calls and files, has a thread of its own: a host call may wait for work of this very queue.
 *
 * <p>Work that takes no longer than giving it to somebody else is done by the thread that submits it, if nothing is waiting.
 */
final class TaskQueue implements UnorderedBackend {
    /** Work up to this long is not worth more than one worker. */
    private static final long SERIAL_NANOS = 10_000;

    private static final int LANES = 16;

    private final String name;
    private final ProcessExecutor executor;
    private final Guests guests;
    private final Executor wakes;
    private final long inlineNanos;
    private final QueueProcess control;
    private final StreamProcess stream;
    private final AtomicReferenceArray<@Nullable Lane> lanes = new AtomicReferenceArray<>(LANES);
    private final AtomicInteger freeLanes;
    private final AtomicReferenceArray<@Nullable CommandRunner> runners; // by the number of the drainer
    private @Nullable QueueScheduler scheduler; // set once, before anything is issued
    private volatile @Nullable IreeException closed; // why nothing runs any more

    /**
     * A queue without its scheduler.
     *
     * @param name of its processes
     * @param executor whose workers do it; borrowed
     * @param runners what each drainer of the executor runs commands with, made as they are needed; shared by the queues of a device
     * @param guests what other threads run commands with
     * @param wakes where operations are resumed when there are many at once; borrowed
     * @param inlineNanos how long work may take that those who submit it do
     */
    TaskQueue(
            String name,
            ProcessExecutor executor,
            AtomicReferenceArray<@Nullable CommandRunner> runners,
            Guests guests,
            Executor wakes,
            long inlineNanos) {
        this(name, executor, runners, guests, wakes, inlineNanos, LANES);
    }

    /** As the other, with less than {@link #LANES} lanes. */
    TaskQueue(
            String name,
            ProcessExecutor executor,
            AtomicReferenceArray<@Nullable CommandRunner> runners,
            Guests guests,
            Executor wakes,
            long inlineNanos,
            int lanes) {
        this.wakes = wakes;
        this.freeLanes = new AtomicInteger((1 << lanes) - 1);
        this.name = name;
        this.inlineNanos = inlineNanos;
        this.executor = executor;
        this.runners = runners;
        this.guests = guests;
        this.control = new QueueProcess(this, name);
        this.stream = new StreamProcess(this, name + " stream");
    }

    void connect(QueueScheduler owner) {
        scheduler = owner;
        executor.adopt(control);
        executor.adopt(stream);
    }

    ProcessExecutor executor() {
        return executor;
    }

    /** Why nothing runs any more, or null. */
    @Nullable
    IreeException closed() {
        return closed;
    }

    @Override
    public Executor wakeExecutor() {
        return wakes;
    }

    @Override
    public boolean execute(QueueOperation operation) {
        HostOperation work = (HostOperation) operation;
        long nanos = work.nanos();
        if (nanos > inlineNanos || closed != null) {
            return false;
        }
        if (nanos == 0) {
            completed(work, work.execute());
            return true;
        }
        if (!work.isSubmittedHere() || !control.isIdle()) {
            return false; // those who signal are not to do work of others; and what waits comes first
        }
        if (!(work instanceof CommandOperation)) {
            completed(work, work.execute());
            return true;
        }
        CommandRunner runner = guests.tryAcquire();
        if (runner == null) {
            return false;
        }
        IreeException failure;
        try {
            if (closed != null) {
                return false; // whoever closes looks whether a runner is lent after it has said so
            }
            failure = work.execute(runner);
        } finally {
            guests.release(runner);
        }
        completed(work, failure);
        return true;
    }

    @Override
    public void issue(QueueOperation operation) {
        HostOperation work = (HostOperation) operation;
        if (work.mayBlock()) {
            if (work.start(failure -> completed(work, failure))) {
                return;
            }
            CallThreads.start(name + " " + work.name(), () -> completed(work, work.execute()));
            return;
        }
        if (work instanceof CommandOperation commands) {
            // Who submits to a queue with nothing waiting begins it, and a dispatch by itself goes to the stream,
            // whoever issues it.
            if (work.isSubmittedHere() && control.isIdle() && start(commands)
                    || commands.isSingleDispatch() && stream.offer(commands)) {
                return;
            }
        }
        control.add(work);
    }

    /** Gives commands to whoever is best for them; false when all lanes are taken. */
    boolean start(CommandOperation work) {
        return isSerial(work) && stream.offer(work) || startLane(work);
    }

    /** Whether commands are not worth more than one worker. */
    boolean isSerial(CommandOperation work) {
        return work.nanos() <= SERIAL_NANOS;
    }

    /** Begins a recording in a lane; false when all are taken. */
    boolean startLane(CommandOperation work) {
        for (int free = freeLanes.get(); free != 0; free = freeLanes.get()) {
            int which = Integer.numberOfTrailingZeros(free);
            if (freeLanes.compareAndSet(free, free & (free - 1))) { // LANE-1
                Lane lane = lanes.getPlain(which);
                if (lane == null) {
                    lane = new Lane(this, which, name + " lane " + which);
                    executor.adopt(lane);
                    lanes.setRelease(which, lane);
                }
                lane.start(work);
                return true;
            }
        }
        return false;
    }

    /** Has an operation wait for a lane. */
    void awaitLane(CommandOperation work) {
        control.add(work);
    }

    /** Takes a lane back, whose execution is over. */
    void release(Lane lane) {
        freeLanes.getAndUpdate(free -> free | 1 << lane.index());
        control.laneIsFree();
    }

    /** Says that an operation is over. */
    void completed(HostOperation operation, @Nullable IreeException failure) {
        Objects.requireNonNull(scheduler).completed(operation, failure);
    }

    /** Returns what a drainer runs commands with. */
    CommandRunner runner(WorkerContext context) {
        CommandRunner runner = runners.getPlain(context.index());
        if (runner == null) {
            runner = new CommandRunner(new Worker(context.index(), executor.workers()));
            runners.setRelease(context.index(), runner);
        }
        return runner;
    }

    /** Lends what a thread that is no drainer abandons work with. */
    Guests guests() {
        return guests;
    }

    /** Does some of what is being run on several workers on the calling thread too. */
    WaitHelper.Outcome help() {
        if (stream.hasWork() && executor.tryDrainOnce(stream)) {
            return WaitHelper.Outcome.WORKED;
        }
        WaitHelper.Outcome outcome = control.isIdle() ? WaitHelper.Outcome.NOTHING : WaitHelper.Outcome.BUSY;
        for (int taken = ~freeLanes.get() & (1 << LANES) - 1; taken != 0; taken &= taken - 1) {
            Lane lane = lanes.getAcquire(Integer.numberOfTrailingZeros(taken));
            if (lane != null && lane.hasWork() && executor.tryDrainOnce(lane)) {
                return WaitHelper.Outcome.WORKED;
            }
            outcome = WaitHelper.Outcome.BUSY;
        }
        return outcome;
    }

    /**
     * A thread that has helped does not any more. It may have opened a region that is not worth waking a worker for, since it would go on
     * itself; now a worker has to.
     */
    void helperLeaves() {
        for (int taken = ~freeLanes.get() & (1 << LANES) - 1; taken != 0; taken &= taken - 1) {
            Lane lane = lanes.getAcquire(Integer.numberOfTrailingZeros(taken));
            if (lane != null && lane.hasWork()) {
                lane.schedule(); // LANE-3
            }
        }
    }

    /** Ends everything with a failure, and whatever is issued from now on. Drains that are under way end by themselves, soon. */
    void close(IreeException cause) {
        if (closed == null) {
            closed = cause;
            processes().forEach(process -> process.fail(cause));
        }
    }

    /** One of its processes is over: the queue was closed, or the executor, or there is a defect. */
    void processEnded(@Nullable IreeException cause) {
        close(
                cause != null
                        ? cause
                        : new IreeException(StatusCode.INTERNAL, "a process of '%s' ended".formatted(name)));
    }

    /** Why nothing runs any more; once that is so. */
    IreeException whyClosed() {
        return Objects.requireNonNull(closed);
    }

    /** Returns its processes, to be waited for after {@link #close}. */
    List<TaskProcess> processes() {
        List<TaskProcess> all = new ArrayList<>();
        all.add(control);
        all.add(stream);
        for (int i = 0; i < LANES; i++) {
            Lane lane = lanes.getAcquire(i);
            if (lane != null) {
                all.add(lane);
            }
        }
        return all;
    }
}
