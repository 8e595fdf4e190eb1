package io.github.iree4j.task;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Drains a process: surrounds the call of the drain function, and acts on the result. */
final class Drains {
    private static final Logger log = LoggerFactory.getLogger(Drains.class);

    private Drains() {}

    /** Calls the drain function. Also returns COMPLETED if the process has failed, before or during the call. */
    private static DrainResult drain(TaskProcess process, WorkerContext context) {
        if (process.failureAcquire() != null) {
            return DrainResult.COMPLETED;
        }
        DrainResult result;
        try {
            result = process.drain(context);
        } catch (Throwable thrown) { // the worker survives anything
            result = DrainResult.COMPLETED;
            process.decideOutcome(failure(process, thrown));
        }
        return process.failureAcquire() == null ? result : DrainResult.COMPLETED;
    }

    private static IreeException failure(TaskProcess process, Throwable thrown) {
        if (thrown instanceof IreeException failure) {
            return failure;
        }
        log.debug("{} threw", process, thrown);
        return IreeException.of(StatusCode.INTERNAL, process + " failed with " + thrown, thrown);
    }

    /** Drains a process taken off the list: once, or repeatedly while no other work waits. There are no other drainers. */
    static void drainListed(ProcessExecutor executor, TaskProcess process, WorkerContext context) {
        process.own();
        for (int drains = 1; ; drains++) {
            switch (drain(process, context)) {
                case COMPLETED -> {
                    executor.finishOwned(process);
                    return;
                }
                case WORKED -> {
                    executor.payWake(context, process);
                    boolean others =
                            !executor.immediate().isEmpty() || executor.slots().takenVolatile() != 0;
                    if (ProcessExecutor.isForSlot(process)) {
                        process.disown();
                        executor.place(process);
                        return;
                    }
                    if (others || drains >= Tuning.DRAINS_IN_A_ROW) {
                        process.disown();
                        executor.immediate().push(process); // this worker will look at the list again
                        return;
                    }
                }
                case IDLE, KEEP_WARM, DONE -> {
                    if (process.ownedSleeps()) {
                        return;
                    }
                }
            }
        }
    }

    /** The outcome of a drain of a slotted process, for the worker. */
    enum Shared {
        NOTHING,
        WARM,
        WORKED
    }

    /** Drains a process in a slot once, concurrently with other drainers. */
    static Shared drainShared(ProcessExecutor executor, TaskProcess process, WorkerContext context) {
        if (!ProcessSchedule.mayDrain(process.enter())) { // TASK-6
            return leave(executor, process, true) ? Shared.WORKED : Shared.NOTHING;
        }
        DrainResult result = drain(process, context);
        if (result == DrainResult.COMPLETED) {
            if (process.setTerminal()) { // TASK-8
                process.complete();
            }
            leave(executor, process, false);
            return Shared.WORKED;
        }
        boolean again = result == DrainResult.WORKED;
        if (again) {
            executor.payWake(context, process);
        }
        if (leave(executor, process, again) || again || result == DrainResult.DONE) {
            return Shared.WORKED;
        }
        return result == DrainResult.KEEP_WARM ? Shared.WARM : Shared.NOTHING;
    }

    /** Leaves the process; returns whether the caller should look for more work. */
    private static boolean leave(ProcessExecutor executor, TaskProcess process, boolean again) {
        long before = process.leave(again);
        switch (ProcessSchedule.left(before, again)) {
            case QUIETLY -> {
                return false;
            }
            case AWAKE -> {
                return true;
            }
            case ASLEEP -> {
                executor.placement().emptySlot(ProcessSchedule.slot(before));
                return false;
            }
            case RELEASED -> {
                executor.placement().emptySlot(ProcessSchedule.slot(before));
                process.release(executor);
                return true;
            }
        }
        throw new AssertionError(before);
    }
}
