package io.github.iree4j.hal.virtual;

import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.hal.local.HostOperation;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.status.IreeException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The hardware of a queue: starts operations in order, up to the first waiting operation, on a number of lanes.
 * Guarded by the clock's lock.
 */
abstract sealed class VirtualQueue permits VirtualStream, VirtualWorkers {
    /** An entry of the line. */
    interface Entry {
        /** Returns whether the entries behind may proceed; if not, runs the action once they may. */
        boolean pass(Runnable proceed);
    }

    /** An operation in the line. Guarded by the clock's lock. */
    private static final class Work {
        final QueueOperation operation;
        final long number;
        boolean told; // whether the end of the operation is reported to the host
        boolean over;
        // on shared lanes, once the operation is at the head and its waits have ended
        VirtualLanes.@Nullable LaneRequest request;

        Work(QueueOperation operation, long number, boolean told) {
            this.operation = operation;
            this.number = number;
            this.told = told;
        }
    }

    final VirtualClock clock;
    private final int index;
    private final int lanes;
    private final @Nullable VirtualLanes shared; // lanes shared with other queues
    private final VirtualScript script;
    private final Queue<Object> entries = new ArrayDeque<>(); // Work or Entry
    private final List<Work> running = new ArrayList<>();
    private final List<Work> executing = new ArrayList<>(); // operations being executed by some thread now
    private @Nullable QueueScheduler scheduler;
    private long issued;
    private @Nullable Work last; // in the line, or complete since
    private @Nullable IreeException gone; // set when the queue is stopped
    private boolean waiting; // whether the queue waits for the event at the head

    VirtualQueue(VirtualClock clock, int index, int lanes, @Nullable VirtualLanes shared, VirtualScript script) {
        this.clock = clock;
        this.index = index;
        this.lanes = lanes;
        this.shared = shared;
        this.script = script;
    }

    final void connect(QueueScheduler owner) {
        scheduler = owner;
    }

    /** Appends an operation to the line, behind the waits of the hardware. */
    final void enqueue(QueueOperation operation, List<? extends Entry> before, boolean told) {
        boolean held = HeldCallbacks.begin(); // an automatic clock advances once its lock is free
        try {
            synchronized (clock) {
                entries.addAll(before);
                IreeException why = gone;
                if (why != null) { // the operation keeps its place nevertheless
                    entries.add(placeOf(operation));
                    plan();
                    throw why;
                }
                Work work = new Work(operation, ++issued, told);
                entries.add(work);
                last = work;
                plan();
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /** Requests a report of the end of the last operation, unless made before. */
    final void reportLast() {
        Work work;
        synchronized (clock) {
            work = last;
            if (work == null || work.told) {
                return;
            }
            work.told = true;
            if (!work.over) {
                return;
            }
        }
        report(work, null);
    }

    /** Returns the entry in place of an operation that is not run. Under the clock's lock. */
    abstract Entry placeOf(QueueOperation operation);

    /** Notes that an operation has run. Under the clock's lock. */
    abstract void passed(QueueOperation operation);

    /** Proceeds once the current thread has released its locks. */
    final void plan() {
        clock.after(0, this::proceed);
    }

    /** Starts all operations able to start. */
    private void proceed() {
        synchronized (clock) {
            waiting = false;
            advance();
        }
    }

    private void advance() {
        while (!waiting && running.size() < lanes && entries.peek() instanceof Object head) {
            if (head instanceof Work work) {
                if (shared != null && work.operation instanceof VirtualOperation && !hasLane(work, shared)) {
                    return;
                }
                running.add(work);
                if (scheduler != null) {
                    scheduler.began(work.operation);
                }
                script.starts(index, work.number, work.operation, work.request == null ? 0 : work.request.lane());
                clock.after(script.duration(index, work.number, work.operation), () -> end(work));
            } else if (!((Entry) head).pass(this::proceed)) {
                waiting = true;
                return;
            }
            entries.remove();
        }
    }

    /** Returns whether the operation at the head occupies a shared lane; if not, the operation waits for a lane. */
    private boolean hasLane(Work work, VirtualLanes lanes) {
        if (work.request == null) {
            work.request = lanes.await(script.rank(index, work.number, work.operation), this::proceed);
        }
        return work.request.lane() >= 0;
    }

    private static void leaveLane(Work work) {
        if (work.request != null) {
            work.request.leave();
        }
    }

    /**
     * Executes an operation after the scripted duration, reports to the host, and proceeds. A failure is reported before
     * the queue proceeds: reports of later operations imply the success of earlier operations.
     */
    private void end(Work work) {
        IreeException failure;
        long delay;
        synchronized (clock) {
            if (!running.contains(work)) {
                return; // lost
            }
            executing.add(work);
            failure = script.failure(index, work.number, work.operation);
            delay = script.completionDelay(index, work.number, work.operation);
        }
        IreeException result = failure != null ? failure : execute(work.operation);
        IreeException outcome;
        boolean reported;
        synchronized (clock) {
            outcome = gone != null ? gone : result; // lost during the run
            reported = outcome == null && work.told;
            if (outcome == null) {
                if (reported && delay > 0) {
                    clock.after(delay, () -> report(work, null));
                }
                leave(work);
            }
        }
        if (outcome != null) {
            report(work, outcome);
            synchronized (clock) {
                leave(work);
            }
        } else if (reported && delay == 0) {
            report(work, null);
        }
    }

    /** Proceeds after an executed operation. Under the clock's lock. */
    private void leave(Work work) {
        executing.remove(work);
        running.remove(work);
        leaveLane(work);
        passed(work.operation);
        work.over = true;
        advance();
    }

    private static @Nullable IreeException execute(QueueOperation operation) {
        return operation instanceof HostOperation work ? work.execute() : null;
    }

    private void report(Work work, @Nullable IreeException outcome) {
        if (scheduler != null) {
            report(scheduler, work.operation, outcome);
        }
    }

    /** Reports all completed operations to the host, before the host learns of the loss. */
    abstract void reportPassed(QueueScheduler owner);

    /** Reports the end of an operation to the host. */
    abstract void report(QueueScheduler owner, QueueOperation operation, @Nullable IreeException outcome);

    /**
     * Fails all operations, now and later. An operation not run keeps its place: marks are still reached in order,
     * after the waits of the stream, since other streams rely on "behind this mark" implying "behind everything before
     * this mark".
     */
    void stop(IreeException cause) {
        List<Work> ended = new ArrayList<>();
        boolean held = HeldCallbacks.begin();
        try {
            synchronized (clock) {
                if (gone != null) {
                    return;
                }
                gone = cause;
                // An operation in execution ends when its thread returns: then the memory is no longer accessed.
                List<Object> places = new ArrayList<>();
                for (Work work : running) {
                    if (!executing.contains(work)) {
                        leaveLane(work);
                        ended.add(work);
                        places.add(placeOf(work.operation));
                    }
                }
                running.removeAll(ended);
                for (Object entry : entries) {
                    if (entry instanceof Work work) {
                        leaveLane(work);
                        ended.add(work);
                        places.add(placeOf(work.operation));
                    } else {
                        places.add(entry);
                    }
                }
                entries.clear();
                entries.addAll(places);
                if (!waiting) {
                    clock.after(0, this::proceed);
                }
            }
            if (scheduler != null) {
                reportPassed(scheduler);
            }
            for (Work work : ended) {
                report(work, cause);
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }
}
