package io.github.iree4j.hal.virtual;

import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.hal.schedule.HostWork;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.status.IreeException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The hardware of one queue: works off what it is given, in order up to what must wait, on so many lanes. Guarded by the clock's lock.
 */
abstract sealed class VirtualQueue permits VirtualStream, VirtualWorkers {
    /** Something in the line. */
    interface Entry {
        /** Whether what stands behind may go on; if not, plans the action for when it may. */
        boolean pass(Runnable proceed);
    }

    /** An operation in the line. Guarded by the clock's lock. */
    private static final class Work {
        final QueueOperation operation;
        final long number;
        boolean told; // whether the host is to hear when it is over
        boolean over;

        Work(QueueOperation operation, long number, boolean told) {
            this.operation = operation;
            this.number = number;
            this.told = told;
        }
    }

    final VirtualClock clock;
    private final int index;
    private final int lanes;
    private final VirtualScript script;
    private final Queue<Object> entries = new ArrayDeque<>(); // Work or Entry
    private final List<Work> running = new ArrayList<>();
    private final List<Work> executing = new ArrayList<>(); // of those, by some thread just now
    private @Nullable QueueScheduler scheduler;
    private long issued;
    private @Nullable Work last; // in the line, or over since
    private @Nullable IreeException gone; // why nothing runs any more
    private boolean waiting; // for the event at the head

    VirtualQueue(VirtualClock clock, int index, int lanes, VirtualScript script) {
        this.clock = clock;
        this.index = index;
        this.lanes = lanes;
        this.script = script;
    }

    final void connect(QueueScheduler owner) {
        scheduler = owner;
    }

    /** Puts an operation in the line, behind what the hardware must wait for first. */
    final void enqueue(QueueOperation operation, List<? extends Entry> before, boolean told) {
        boolean held = HeldCallbacks.begin(); // an automatic clock goes on once its lock is free
        try {
            synchronized (clock) {
                entries.addAll(before);
                IreeException why = gone;
                if (why != null) { // it keeps its place all the same
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

    /** The host is to hear of the end of what came last, if it has not. */
    final void tellLast() {
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

    /** What stands in the line for an operation that is not run. Under the clock's lock. */
    abstract Entry placeOf(QueueOperation operation);

    /** An operation has run. Under the clock's lock. */
    abstract void passed(QueueOperation operation);

    /** Goes on as soon as whoever holds a lock has given it up. */
    final void plan() {
        clock.after(0, this::proceed);
    }

    /** Starts what can be started. */
    private void proceed() {
        synchronized (clock) {
            waiting = false;
            advance();
        }
    }

    private void advance() {
        while (!waiting && running.size() < lanes && entries.peek() instanceof Object head) {
            if (head instanceof Work work) {
                running.add(work);
                if (scheduler != null) {
                    scheduler.assertPremises(work.operation);
                }
                clock.after(script.duration(index, work.number, work.operation), () -> end(work));
            } else if (!((Entry) head).pass(this::proceed)) {
                waiting = true;
                return;
            }
            entries.remove();
        }
    }

    /** The time of an operation is over: does what it does, goes on, and tells the host. */
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
        IreeException result = failure != null ? failure : ((HostWork) work.operation).execute();
        IreeException outcome;
        synchronized (clock) {
            executing.remove(work);
            running.remove(work);
            passed(work.operation);
            outcome = gone != null ? gone : result; // lost while it ran
            work.over = true;
            if (outcome == null && !work.told) {
                advance();
                return;
            }
            if (outcome != null) {
                delay = 0; // what is told of later operations says that those before have not failed
            }
            if (delay > 0) {
                clock.after(delay, () -> report(work, outcome));
            }
            advance();
        }
        if (delay == 0) {
            report(work, outcome);
        }
    }

    private void report(Work work, @Nullable IreeException outcome) {
        if (scheduler != null) {
            tell(scheduler, work.operation, outcome);
        }
    }

    /** Tells the host of everything that is over, before it hears what was lost. */
    abstract void tellPassed(QueueScheduler owner);

    /** Tells the host that an operation is over. */
    abstract void tell(QueueScheduler owner, QueueOperation operation, @Nullable IreeException outcome);

    /**
     * Ends everything with a failure, and whatever is issued from now on. What is not run keeps its place: marks are still reached in
     * order, after what the stream waits for, since others took "behind this mark" for "behind all that was before it".
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
                // What a thread is at just now is over when that has come back: then nobody touches its memory any
                // more.
                List<Object> places = new ArrayList<>();
                for (Work work : running) {
                    if (!executing.contains(work)) {
                        ended.add(work);
                        places.add(placeOf(work.operation));
                    }
                }
                running.removeAll(ended);
                for (Object entry : entries) {
                    if (entry instanceof Work work) {
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
                tellPassed(scheduler);
            }
            for (Work work : ended) {
                report(work, cause);
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }
}
