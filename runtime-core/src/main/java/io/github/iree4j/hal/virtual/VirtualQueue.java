package io.github.iree4j.hal.virtual;

import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.hal.HostWork;
import io.github.iree4j.hal.QueueOperation;
import io.github.iree4j.hal.QueueScheduler;
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

    private record Work(QueueOperation operation, long number) {}

    final VirtualClock clock;
    private final int index;
    private final int lanes;
    private final VirtualScript script;
    private final Queue<Object> entries = new ArrayDeque<>(); // Work or Entry
    private final List<Work> running = new ArrayList<>();
    private final List<Work> executing = new ArrayList<>(); // of those, by some thread just now
    private @Nullable QueueScheduler scheduler;
    private long issued;
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

    /** Puts an operation in the line. */
    public final void issue(QueueOperation operation) {
        boolean held = HeldCallbacks.begin(); // an automatic clock goes on once its lock is free
        try {
            synchronized (clock) {
                IreeException why = gone;
                if (why != null) {
                    throw why;
                }
                entries.add(new Work(operation, ++issued));
                plan();
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /** Under the clock's lock. */
    final void add(Entry entry) {
        entries.add(entry);
    }

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
            outcome = gone != null ? gone : result; // lost while it ran
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
            scheduler.completed(work.operation, outcome);
        }
    }

    /** Nothing runs any more. Under the clock's lock. */
    void stopped() {}

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
                running.removeIf(work -> !executing.contains(work) && ended.add(work));
                entries.removeIf(entry -> entry instanceof Work work && ended.add(work));
                if (!waiting) {
                    clock.after(0, this::proceed);
                }
            }
            for (Work work : ended) {
                report(work, cause);
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }
}
