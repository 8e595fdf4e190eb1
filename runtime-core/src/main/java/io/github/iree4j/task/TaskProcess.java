package io.github.iree4j.task;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Work that can be done a little at a time, by one worker or several.
 *
 * <p>Workers call {@link #drain}; it does bounded work and returns, which is where workers turn to other things. A process with nothing to do
 * sleeps and costs nothing, until {@link #schedule()} is called. It may wait for events before its first drain: each takes one from the suspend
 * count, and whoever takes the last puts it where workers look. When it is over, in success or with the first failure, it calls
 * {@link #completed} once, wakes those that depend on it, and when nobody is in a drain any more, calls {@link #released} once.
 *
 * <p>Every public method is safe from any thread and none blocks or takes a lock.
 */
public abstract class TaskProcess extends ProcessPads.AfterSchedule {
    private static final Logger log = LoggerFactory.getLogger(TaskProcess.class);

    /**
     * Creates a process. Nothing drains it before {@link ProcessExecutor#submit}.
     *
     * @param options name, counts, placement
     */
    protected TaskProcess(ProcessOptions options) {
        super(options);
    }

    /**
     * Does a bounded piece of the work.
     *
     * <p>Runs on a worker, or in {@link ProcessExecutor#tryDrainInline} on the caller; a process in a compute slot is drained by several at the same time. An
     * implementation:
     * <ul>
     *   <li>MUST return soon, and MUST NOT block, since a worker is what blocks then;
     *   <li>MUST NOT use the worker after it returned;
     *   <li>MAY schedule, wake, cancel or submit any process, this one too, and change the budget;
     *   <li>MAY throw: the process fails with that, the worker goes on.
     * </ul>
     *
     * @param worker who drains
     * @return what workers should do next
     * @throws Exception to fail the process
     */
    protected abstract DrainResult drain(WorkerContext worker) throws Exception;

    /**
     * Called once when the process is over, by the thread that ended it, possibly while other drains are under way; so it must leave alone what
     * they use. Dependents are woken afterwards. MUST NOT block; what it throws is logged.
     *
     * @param failure the first failure, or null when all went well
     */
    protected void completed(@Nullable IreeException failure) {}

    /** Called once after {@link #completed}, when the last drain has returned; everything may be freed, or {@link #rearm} called. MUST NOT block. */
    protected void released() {}

    /**
     * Called when something this process depends on has failed, before that counts as one event less to wait for. Unless overridden this process fails in
     * the same way, without being drained, when it has no failure yet.
     *
     * @param failure of the process that this one waited for
     */
    protected void upstreamFailed(IreeException failure) {
        decideOutcome(failure);
    }

    /**
     * Makes the process begin another life as if it were new, to be submitted again. Only in {@link #released} or after it.
     *
     * @param suspendCount events to wait for
     */
    protected final void rearm(int suspendCount) {
        ProcessOptions.checkRange("suspend count", suspendCount, 0, ProcessOptions.MAX_SUSPENDS);
        if (!isReleased()) {
            throw new IreeException(
                    StatusCode.FAILED_PRECONDITION, this + " is not over yet; rearm it when it is released");
        }
        clearWorkerStates();
        unbindRelease();
        rearmActivation(suspendCount);
        rearmSchedule(options.wakeBudget());
    }

    /**
     * Asks for a drain that begins after this call: wakes the process if it sleeps, and makes sure of another drain if it is in one. Does nothing when the
     * process is over, when it still waits for events, and before it was submitted: its first drain is still to come.
     */
    public final void schedule() {
        ProcessExecutor executor = executorVolatile();
        if (executor != null) {
            executor.schedule(this);
        }
    }

    /**
     * Takes one event off the suspend count. The call that takes the last makes the process runnable, and puts it where workers look if it was submitted.
     *
     * @return whether this call made it runnable; false too when it was cancelled
     * @throws IreeException {@code FAILED_PRECONDITION} when it waits for no event
     */
    public final boolean wake() {
        long before = resumeOnceVolatile(); // TASK-1
        long suspends = suspends(before);
        if (suspends <= 0) {
            suspendOnceVolatile();
            throw new IreeException(StatusCode.FAILED_PRECONDITION, this + " was woken more often than suspended");
        }
        if (suspends > 1 || (before & (ENDING | DONE)) != 0) {
            return false;
        }
        schedule();
        return true;
    }

    /**
     * Makes another process wait for this one: it is suspended once more, and woken when this one is over, failing as this one did. When this one is over
     * already, that happens at once. Dependents that were not submitted are, to this one's executor, when they are woken.
     *
     * @param dependent not yet submitted, or still suspended
     * @throws IreeException {@code FAILED_PRECONDITION} when the dependent may already be drained
     */
    public final void addDependent(TaskProcess dependent) {
        if (dependent.isRunnable() && dependent.executorVolatile() != null) {
            throw new IreeException(
                    StatusCode.FAILED_PRECONDITION,
                    dependent + " may already be drained and cannot wait for " + this
                            + "; add it before it is submitted");
        }
        dependent.suspendOnceVolatile();
        if (!pushDependent(dependent)) {
            dependent.upstreamEnded(failureAcquire(), executorVolatile());
        }
    }

    /** Ends the process with {@code CANCELLED} unless it has a failure already; as {@link #fail}. */
    public final void cancel() {
        fail(new IreeException(StatusCode.CANCELLED, this + " was cancelled"));
    }

    /**
     * Ends the process: no drain begins any more. While it is suspended it is over when this returns; else a worker, woken if need be, completes it after
     * the drains under way. The first failure stays.
     *
     * @param failure why
     * @return whether this was the first failure
     */
    public final boolean fail(IreeException failure) {
        Object outcome = decideOutcome(failure);
        if (outcome instanceof IreeException) {
            endSoon();
        }
        return outcome == failure;
    }

    private void endSoon() {
        long before = setActivationBitsVolatile(ENDING); // TASK-2
        if (suspends(before) <= 0) {
            schedule();
        } else if ((before & ENDING) == 0 && releaseUnplaced()) {
            ProcessExecutor executor =
                    executorVolatile(); // TASK-16: looked at after it was released, as it is released when it is listed
            complete(executor);
            release(executor);
        }
    }

    /**
     * Changes how many workers are woken for the process. When more are wanted than before and it is in a slot, they are woken.
     *
     * @param workers at least 1
     */
    public final void changeWakeBudget(int workers) {
        ProcessOptions.checkRange("wake budget", workers, 1, Integer.MAX_VALUE);
        int before = exchangeBudget(workers);
        ProcessExecutor executor = executorVolatile();
        if (before != workers && executor != null) {
            executor.budgetChanged(this, before, workers);
        }
    }

    /**
     * Returns how many workers are woken for the process.
     *
     * @return at least 1
     */
    public final int wakeBudget() {
        return budgetOpaque();
    }

    /**
     * Returns the options it was created with.
     *
     * @return the options
     */
    public final ProcessOptions options() {
        return options;
    }

    /**
     * Returns where the process is in its life, which may be over by then.
     *
     * @return the state
     */
    public final ProcessState state() {
        long activation = activationVolatile();
        IreeException failure = failureAcquire();
        boolean cancelled = failure != null && failure.code() == StatusCode.CANCELLED;
        if ((activation & DONE) != 0 || (activation & ENDING) != 0 && failure != null) {
            return cancelled ? ProcessState.CANCELLED : ProcessState.COMPLETED;
        }
        return suspends(activation) > 0 ? ProcessState.SUSPENDED : ProcessState.RUNNABLE;
    }

    /**
     * Returns whether the process is over and nobody is in a drain.
     *
     * @return true from the time {@link #released} is called
     */
    public final boolean isReleased() {
        return (activationVolatile() & OVER) != 0;
    }

    /**
     * Returns the first failure.
     *
     * @return the failure, or null
     */
    public final @Nullable IreeException failure() {
        return failureAcquire();
    }

    final boolean isRunnable() {
        return suspends(activationVolatile()) <= 0;
    }

    /** TASK-3: once a life. */
    final void complete(@Nullable ProcessExecutor executor) {
        if ((setActivationBitsVolatile(DONE) & DONE) != 0) {
            return;
        }
        IreeException failure = decideOutcome(SUCCEEDED) instanceof IreeException first ? first : null;
        try {
            completed(failure);
        } catch (Throwable thrown) {
            log.error("'{}' failed while it was completed", this, thrown);
        }
        for (Dependent waiting = closeDependents(); waiting != null; waiting = waiting.next) {
            TaskProcess dependent = waiting.process;
            if (dependent != null) {
                dependent.upstreamEnded(failure, executor);
            }
        }
    }

    final void release(@Nullable ProcessExecutor executor) {
        IreeException failure = failureAcquire();
        TaskScope scope = options.scope();
        boolean counted = executor != null && executor.unlist(this);
        setActivationBitsVolatile(OVER); // from here on it may be rearmed
        try {
            released();
        } catch (Throwable thrown) {
            log.error("'{}' failed while it was released", this, thrown);
        }
        if (counted && scope != null) {
            scope.ended(failure);
        }
    }

    private void upstreamEnded(@Nullable IreeException failure, @Nullable ProcessExecutor executor) {
        if (failure != null) {
            try {
                upstreamFailed(failure);
            } catch (Throwable thrown) {
                log.error("'{}' failed while it was told of a failure", this, thrown);
                decideOutcome(failure);
            }
        }
        if (executor != null && executorVolatile() == null) {
            executor.adopt(this);
        }
        wake();
    }

    /** Returns the name, for people. */
    @Override
    public String toString() {
        return "process '" + options.name() + "'";
    }
}
