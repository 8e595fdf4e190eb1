package io.github.iree4j.task;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Draining one process: what is done around its drain function, and with what that says. */
final class Drains {
    private static final Logger log = LoggerFactory.getLogger(Drains.class);

    private Drains() {}

    /** Calls the drain function. COMPLETED also when the process has failed, before or in it. */
    private static DrainResult drain(TaskProcess process, WorkerContext context) {
        if (process.failureAcquire() != null) {
            return DrainResult.COMPLETED;
        }
        DrainResult result;
        context.enter(process);
        try {
            result = process.drain(context);
        } catch (Throwable thrown) { // the worker goes on, whatever it was
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
        return new IreeException(StatusCode.INTERNAL, process + " failed with " + thrown, thrown);
    }

    /** Drains a process that the list gave: once, or as often as nothing else waits. Nobody else is in it. */
    static void drainListed(ProcessExecutor executor, TaskProcess process, WorkerContext context) {
        process.own();
        for (int drains = 1; ; drains++) {
            switch (drain(process, context)) {
                case COMPLETED -> {
                    executor.finishOwned(process);
                    return;
                }
                case WORKED, KEEP_ACTIVE -> {
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
                        executor.immediate().push(process); // this worker comes back to it
                        return;
                    }
                }
                case IDLE, KEEP_WARM -> {
                    if (process.ownedSleeps()) {
                        return;
                    }
                }
            }
        }
    }

    /** Drains a process that the caller owns until it is over or sleeps. */
    static void drainOwnedToSleep(ProcessExecutor executor, TaskProcess process, WorkerContext context) {
        for (; ; ) {
            switch (drain(process, context)) {
                case COMPLETED -> {
                    executor.finishOwned(process);
                    return;
                }
                case KEEP_ACTIVE -> Thread.onSpinWait();
                case WORKED -> {}
                case IDLE, KEEP_WARM -> {
                    if (process.ownedSleeps()) {
                        return;
                    }
                }
            }
        }
    }

    /** What one drain of a slotted process leaves its worker with. */
    enum Shared {
        NOTHING,
        WARM,
        WORKED
    }

    /** Drains a process in a slot once, along with whoever else is in it. */
    static Shared drainShared(ProcessExecutor executor, TaskProcess process, WorkerContext context) {
        if (!ProcessSchedule.mayDrain(process.enter())) { // TASK-6
            return leave(executor, process, true) ? Shared.WORKED : Shared.NOTHING;
        }
        DrainResult result = drain(process, context);
        if (result == DrainResult.COMPLETED) {
            if (process.setTerminal()) { // TASK-8
                process.complete(executor);
            }
            leave(executor, process, false);
            return Shared.WORKED;
        }
        boolean again = result == DrainResult.WORKED || result == DrainResult.KEEP_ACTIVE;
        if (again) {
            executor.payWake(context, process);
        }
        if (leave(executor, process, again) || again) {
            return Shared.WORKED;
        }
        return result == DrainResult.KEEP_WARM ? Shared.WARM : Shared.NOTHING;
    }

    /** Drains a process in a slot along with workers until there is nothing more for the caller. */
    static void drainAlong(ProcessExecutor executor, TaskProcess process, WorkerContext context) {
        while (process.isOpenAcquire() && drainShared(executor, process, context) == Shared.WORKED) {
            Thread.onSpinWait();
        }
    }

    /** Returns whether there is more to look at. */
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
