package io.github.iree4j.hal.local;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.WaitHelper;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OwnWork;
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
 * Runs the operations of a queue on the workers of an executor. The scheduler announces ready operations; nothing is
 * polled.
 *
 * <p>{@link QueueProcess} takes ready operations in order, and itself runs operations that are short or must not be
 * shared. {@link StreamProcess} runs single-worker operations, on as many workers as there is work. A {@link Lane} runs
 * a recording on several workers; several lanes exist, since independent recordings may run at the same time.
 *
 * <p>Operations that may block, host calls and files, have their own threads: a host call may wait for work of this
 * very queue.
 *
 * <p>The submitter runs work no longer than a hand-off, if nothing is waiting. The thread of a call waiting for the
 * call is in no hurry: work no longer than waking a worker runs on this thread at once. Work that workers would not end
 * earlier runs on this thread as soon as the thread has nothing else to do, see {@link OwnWork}.
 */
final class TaskQueue implements UnorderedBackend {
    /** Longest work of a worker without looking for other work, and of a virtual thread, whose carrier is shared as a worker is. */
    private static final long SERIAL_NANOS = 200_000;

    private static final int LANES = 16;

    private final String name;
    private final ProcessExecutor executor;
    private final CallerRunners callerRunners;
    private final Executor wakes;
    private final long inlineNanos;
    private final QueueProcess control;
    private final StreamProcess stream;
    private final AtomicReferenceArray<@Nullable Lane> lanes = new AtomicReferenceArray<>(LANES);
    private final AtomicInteger freeLanes;
    private final AtomicReferenceArray<@Nullable CommandRunner> runners; // by drainer number
    private @Nullable QueueScheduler scheduler; // set once, before anything is issued
    private volatile @Nullable IreeException closed; // set when the queue is closed

    /**
     * Creates a queue without a scheduler.
     *
     * @param name of the queue's processes
     * @param executor the executor whose workers run the queue; borrowed
     * @param runners the command runner of each drainer, created on demand; shared by the queues of a device
     * @param callerRunners the command runners of other threads
     * @param wakes resumes many operations at once; borrowed
     * @param inlineNanos maximum duration of work run by the submitter
     */
    TaskQueue(
            String name,
            ProcessExecutor executor,
            AtomicReferenceArray<@Nullable CommandRunner> runners,
            CallerRunners callerRunners,
            Executor wakes,
            long inlineNanos) {
        this(name, executor, runners, callerRunners, wakes, inlineNanos, LANES);
    }

    /** Creates a queue with less than {@link #LANES} lanes. */
    TaskQueue(
            String name,
            ProcessExecutor executor,
            AtomicReferenceArray<@Nullable CommandRunner> runners,
            CallerRunners callerRunners,
            Executor wakes,
            long inlineNanos,
            int lanes) {
        this.wakes = wakes;
        this.freeLanes = new AtomicInteger((1 << lanes) - 1);
        this.name = name;
        this.inlineNanos = inlineNanos;
        this.executor = executor;
        this.runners = runners;
        this.callerRunners = callerRunners;
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

    /** Returns the cause of the closing, or null while open. */
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
        if (closed != null) {
            return false;
        }
        if (nanos == 0) {
            completed(work, work.execute());
            return true;
        }
        boolean isForSubmitter = nanos <= inlineNanos && work.isSubmittedHere();
        if (!isForSubmitter && !isForThreadOfCall(work, nanos) || !control.isIdle()) {
            return false; // a signalling thread must not run the work of others; and waiting operations come first
        }
        if (!(work instanceof CommandOperation)) {
            completed(work, work.execute());
            return true;
        }
        CommandRunner runner = callerRunners.tryAcquire();
        if (runner == null) {
            return false;
        }
        IreeException failure;
        try {
            if (closed != null) {
                return false; // the closing thread checks for lent runners after setting `closed`
            }
            failure = work.execute(runner);
        } finally {
            callerRunners.release(runner);
        }
        completed(work, failure);
        return true;
    }

    /** Returns whether the calling thread waits for the call, and finishes the work before a worker would have begun. */
    private boolean isForThreadOfCall(HostOperation work, long nanos) {
        return inlineNanos > 0 && nanos <= executor.wakeNanos() && work.isOfCallMadeHere();
    }

    @Override
    public void issue(QueueOperation operation) {
        HostOperation work = (HostOperation) operation;
        if (work.mayBlock()) {
            if (work.start(failure -> completed(work, failure))) {
                return;
            }
            CallThreads.start(name + " " + work.name(), () -> {
                began(work);
                completed(work, work.execute());
            });
            return;
        }
        if (work instanceof CommandOperation commands) {
            issue(commands);
        } else {
            control.add(work);
        }
    }

    private void issue(CommandOperation work) {
        boolean idle = control.isIdle();
        MemoryHolder call = inlineNanos > 0 && idle && mayKeep(work) ? work.call() : null;
        if (call != null && call.takesOwnWorkHere()) {
            call.takesOn(new Kept(work));
        } else {
            handOff(work, work.isSubmittedHere() && idle);
        }
    }

    /** Returns whether the calling thread could do the work as well as workers. */
    private boolean mayKeep(CommandOperation work) {
        return Thread.currentThread().isVirtual() ? isSerial(work) : isForOneThread(work);
    }

    /**
     * Hands work off: the submitter to a queue without waiting operations starts the work itself; a single dispatch
     * goes to the stream, on any thread.
     */
    private void handOff(CommandOperation work, boolean startsHere) {
        if (!(startsHere && start(work) || work.isSingleDispatch() && stream.offer(work))) {
            control.add(work);
        }
    }

    /** LANE-4: work left to the thread of a call. */
    private final class Kept implements OwnWork {
        private final CommandOperation work;

        Kept(CommandOperation work) {
            this.work = work;
        }

        @Override
        public void run() {
            CommandRunner runner = callerRunners.acquire();
            IreeException failure;
            try {
                failure = closed; // the closing thread checks for lent runners after setting `closed`
                if (failure == null) {
                    began(work);
                    failure = work.execute(runner);
                }
            } finally {
                callerRunners.release(runner);
            }
            completed(work, failure);
        }

        @Override
        public void handOn() {
            handOff(work, control.isIdle());
        }
    }

    /** Gives commands to the best executor; returns false when all lanes are taken. */
    boolean start(CommandOperation work) {
        return isSerial(work) && stream.offer(work) || startLane(work);
    }

    /** Returns whether commands are short and not worth more than a single worker. */
    boolean isSerial(CommandOperation work) {
        return work.nanos() <= SERIAL_NANOS && isForOneThread(work);
    }

    /** Returns whether waking more workers would not end the commands earlier. */
    boolean isForOneThread(CommandOperation work) {
        return !executor.isWorthWaking(work.gainOfSharing());
    }

    /** Begins a recording in a lane; returns false when all are taken. */
    boolean startLane(CommandOperation work) {
        for (int free = freeLanes.get(); free != 0; free = freeLanes.get()) {
            int which = Integer.numberOfTrailingZeros(free);
            if (freeLanes.compareAndSet(free, free & (free - 1))) { // LANE-1
                Lane lane = lanes.getPlain(which);
                (lane == null ? newLane(which) : lane).start(work);
                return true;
            }
        }
        return false;
    }

    /** Makes a lane, which ends if the queue is closed. Adds the lane before the read of `closed`; close() does the reverse. */
    private Lane newLane(int which) {
        Lane lane = new Lane(this, which, name + " lane " + which);
        executor.adopt(lane);
        lanes.set(which, lane);
        IreeException cause = closed;
        if (cause != null) {
            lane.fail(cause);
        }
        return lane;
    }

    /** Returns whether an operation waits for a lane. */
    boolean isLaneWanted() {
        return control.wantsLane();
    }

    /** Makes an operation wait for a lane. */
    void awaitLane(CommandOperation work) {
        control.add(work);
    }

    /** Takes back a lane whose execution is complete. */
    void release(Lane lane) {
        freeLanes.getAndUpdate(free -> free | 1 << lane.index());
        control.laneIsFree();
    }

    /** Reports the beginning of an operation, for operations that did not begin when issued. */
    void began(HostOperation operation) {
        Objects.requireNonNull(scheduler).began(operation);
    }

    /** Reports the completion of an operation. */
    void completed(HostOperation operation, @Nullable IreeException failure) {
        Objects.requireNonNull(scheduler).completed(operation, failure);
    }

    /** Returns the command runner of a drainer. */
    CommandRunner runner(WorkerContext context) {
        CommandRunner runner = runners.getPlain(context.index());
        if (runner == null) {
            runner = new CommandRunner(new TileRunner(context.index(), executor.workers()));
            runners.setRelease(context.index(), runner);
        }
        return runner;
    }

    /** Returns the command runners for threads that are not drainers. */
    CallerRunners callerRunners() {
        return callerRunners;
    }

    /** Runs a part of the lanes' work on the calling thread. */
    WaitHelper.Outcome help() {
        if (stream.hasWork() && executor.tryDrainOnce(stream)) {
            return WaitHelper.Outcome.WORKED;
        }
        WaitHelper.Outcome outcome = control.isIdle() ? WaitHelper.Outcome.NOTHING : WaitHelper.Outcome.BUSY;
        for (int taken = ~freeLanes.get() & (1 << LANES) - 1; taken != 0; taken &= taken - 1) {
            Lane lane = lanes.getAcquire(Integer.numberOfTrailingZeros(taken));
            if (lane != null && lane.hasWorkForHelpers() && executor.tryDrainOnce(lane)) {
                return WaitHelper.Outcome.WORKED;
            }
            outcome = WaitHelper.Outcome.BUSY;
        }
        return outcome;
    }

    /**
     * Ends the help of a thread. The thread may have opened a region without waking a worker, because the thread itself
     * would have continued; now a worker must.
     */
    void helperLeaves() {
        for (int taken = ~freeLanes.get() & (1 << LANES) - 1; taken != 0; taken &= taken - 1) {
            Lane lane = lanes.getAcquire(Integer.numberOfTrailingZeros(taken));
            if (lane != null && lane.hasWork()) {
                lane.schedule(); // LANE-3
            }
        }
    }

    /** Fails all operations, including operations issued from now on. Running drains end by themselves, soon. */
    void close(IreeException cause) {
        if (closed == null) {
            closed = cause;
            processes().forEach(process -> process.fail(cause));
        }
    }

    /** Records the end of a process of the queue: the queue or the executor was closed, or there is a bug. */
    void processEnded(@Nullable IreeException cause) {
        close(cause != null ? cause : IreeException.of(StatusCode.INTERNAL, "a process of '%s' ended".formatted(name)));
    }

    /** Returns the cause of the closing; only once closed. */
    IreeException whyClosed() {
        return Objects.requireNonNull(closed);
    }

    /** Returns the queue's processes, to await after {@link #close}. */
    List<TaskProcess> processes() {
        List<TaskProcess> all = new ArrayList<>();
        all.add(control);
        all.add(stream);
        for (int i = 0; i < LANES; i++) {
            Lane lane = lanes.get(i);
            if (lane != null) {
                all.add(lane);
            }
        }
        return all;
    }
}
