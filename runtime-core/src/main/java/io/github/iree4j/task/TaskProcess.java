package io.github.iree4j.task;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Cooperative work, done in small steps by one worker or several.
 *
 * <p>Workers call {@link #drain}; it does bounded work and returns, which lets workers turn to other processes. A process with nothing to
 * do sleeps and costs nothing until {@link #schedule()} is called. It may await events before its first drain: each decrements the suspend
 * count, and the last makes the process runnable. When it is over, successfully or with the first failure, it calls {@link #completed}
 * once, and {@link #released} once, after the last drain has returned.
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
     * Does a bounded amount of work.
     *
     * <p>Runs on a worker, or in {@link ProcessExecutor#tryDrainOnce} on the caller; several workers drain a process in a compute slot
     * concurrently. An implementation:
     * <ul>
     *   <li>MUST return soon and MUST NOT block, because that blocks a worker;
     *   <li>MUST NOT use the worker context after it has returned;
     *   <li>MAY schedule, wake, cancel or submit any process, including this one, and change the budget;
     *   <li>MAY throw: the process fails with the exception, the worker continues.
     * </ul>
     *
     * @param worker the draining worker or caller
     * @return what workers should do next
     * @throws Exception to fail the process
     */
    protected abstract DrainResult drain(WorkerContext worker) throws Exception;

    /**
     * Called once when the process is over, by the thread that ended it, possibly while other drains are in progress; so it must not touch
     * what they use. MUST NOT block; what it throws is logged.
     *
     * @param failure the first failure, or null on success
     */
    protected void completed(@Nullable IreeException failure) {}

    /**
     * Called once after {@link #completed}, when the last drain has returned; may free everything. MUST NOT block.
     */
    protected void released() {}

    /**
     * Requests a drain that begins after this call: wakes the process if it sleeps, and ensures another drain if one is in progress. Does
     * nothing when the process is over, and while it awaits events or has not been submitted: its first drain is still to come.
     */
    public final void schedule() {
        ProcessExecutor executor = executorVolatile();
        if (executor != null) {
            executor.schedule(this);
        }
    }

    /**
     * Decrements the suspend count for one event. The call that takes it to zero makes the process runnable, and schedules it if it was
     * submitted.
     *
     * @return whether this call made it runnable; false also when it was cancelled
     * @throws IreeException {@code FAILED_PRECONDITION} when it awaits no event
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

    /** Ends the process with {@code CANCELLED} unless it has failed already; see {@link #fail}. */
    public final void cancel() {
        fail(new IreeException(StatusCode.CANCELLED, this + " was cancelled"));
    }

    /**
     * Ends the process: no drain begins any more. A suspended process is over when this returns; otherwise a worker, woken if necessary,
     * completes it after the drains in progress. The first failure wins.
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
                    executorVolatile(); // TASK-16: read after the release; adopt() checks for the release after it has
            // set LISTED
            complete();
            release(executor);
        }
    }

    /**
     * Changes how many workers are woken for the process. If that is more than before and the process is in a slot, the additional workers
     * are woken.
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
     * Returns the state of the process, which may change concurrently.
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
     * Returns whether the process is over and no drain is in progress.
     *
     * @return true from the call of {@link #released} on
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

    /** TASK-3: once. */
    final void complete() {
        if ((setActivationBitsVolatile(DONE) & DONE) != 0) {
            return;
        }
        IreeException failure = decideOutcome(SUCCEEDED) instanceof IreeException first ? first : null;
        try {
            completed(failure);
        } catch (Throwable thrown) {
            log.error("completed() of {} threw", this, thrown);
        }
    }

    final void release(@Nullable ProcessExecutor executor) {
        if (executor != null) {
            executor.unlist(this);
        }
        setActivationBitsVolatile(OVER);
        try {
            released();
        } catch (Throwable thrown) {
            log.error("released() of {} threw", this, thrown);
        }
    }

    /** Returns the name, for diagnostics. */
    @Override
    public String toString() {
        return "process '" + options.name() + "'";
    }
}
