package io.github.iree4j.task;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Cooperative work, done in small steps by one or several workers.
 *
 * <p>Workers call {@link #drain}; a drain does bounded work and returns, so that workers can turn to other processes. A
 * process without work sleeps at no cost until {@link #schedule()} is called. A process may await events before the
 * first drain: each event decrements the suspend count, and the last event makes the process runnable. When the process
 * has ended, successfully or with the first failure, {@link #completed} is called once, and {@link #released} is called
 * once, after the last drain has returned.
 *
 * <p>Every public method is safe from any thread. No public method blocks or takes a lock.
 */
@NotForApplications
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
     * <p>Runs on a worker, or in {@link ProcessExecutor#tryDrainOnce} on the caller; several workers drain a process in
     * a compute slot concurrently. An implementation:
     * <ul>
     *   <li>MUST return soon and MUST NOT block, because a blocked drain blocks the worker;
     *   <li>MUST NOT use the worker context after returning;
     *   <li>MAY schedule, wake, cancel or submit any process, including this process, and change the budget;
     *   <li>MAY throw: the process fails with the exception, the worker continues.
     * </ul>
     *
     * @param worker the draining worker or caller
     * @return the next step for workers
     * @throws Exception to fail the process
     */
    protected abstract DrainResult drain(WorkerContext worker) throws Exception;

    /**
     * Called once when the process has ended, by the ending thread, possibly while other drains are in progress; the
     * method therefore must not touch data used by drains. MUST NOT block; an exception is logged.
     *
     * @param failure the first failure, or null on success
     */
    protected void completed(@Nullable IreeException failure) {}

    /**
     * Called once after {@link #completed}, when the last drain has returned; may free everything. MUST NOT block.
     */
    protected void released() {}

    /**
     * Requests a drain that begins after this call: wakes a sleeping process, and ensures another drain if a drain is
     * in progress. Does nothing when the process has ended. Also does nothing while the process awaits events or has
     * not been submitted: the first drain is still to come.
     */
    public final void schedule() {
        ProcessExecutor executor = executorVolatile();
        if (executor != null) {
            executor.schedule(this);
        }
    }

    /**
     * Decrements the suspend count for one event. The last decrement makes the process runnable, and schedules the
     * process if it was submitted.
     *
     * @return whether this call made the process runnable; also false for a cancelled process
     * @throws IreeException {@code FAILED_PRECONDITION} when the process awaits no event
     */
    public final boolean wake() {
        long before = resumeOnceVolatile(); // TASK-1
        long suspends = suspends(before);
        if (suspends <= 0) {
            suspendOnceVolatile();
            throw IreeException.of(StatusCode.FAILED_PRECONDITION, this + " was woken more often than suspended");
        }
        if (suspends > 1 || (before & (ENDING | DONE)) != 0) {
            return false;
        }
        schedule();
        return true;
    }

    /** Ends the process with {@code CANCELLED} unless already failed; see {@link #fail}. */
    public final void cancel() {
        fail(IreeException.of(StatusCode.CANCELLED, this + " was cancelled"));
    }

    /**
     * Ends the process: no drain begins any more. A suspended process has ended when this method returns; otherwise a
     * worker, woken if necessary, completes the process after the drains in progress. The first failure wins.
     *
     * @param failure the cause
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
                    // TASK-16: read after the release; adopt() sets LISTED, then checks for the release
                    executorVolatile();
            complete();
            release(executor);
        }
    }

    /**
     * Changes the number of workers woken for the process. If the number rises and the process is in a slot, the
     * additional workers are woken.
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
     * Returns the number of workers woken for the process.
     *
     * @return at least 1
     */
    public final int wakeBudget() {
        return budgetOpaque();
    }

    /**
     * Returns the options of the process.
     *
     * @return the options given at creation
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
     * Returns whether the process has ended and no drain is in progress.
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

    /** TASK-3: completes the process, once. */
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
