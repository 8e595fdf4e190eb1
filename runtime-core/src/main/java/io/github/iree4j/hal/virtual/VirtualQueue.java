package io.github.iree4j.hal.virtual;

import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.hal.HostWork;
import io.github.iree4j.hal.QueueBackend;
import io.github.iree4j.hal.QueueOperation;
import io.github.iree4j.hal.QueueScheduler;
import io.github.iree4j.status.IreeException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The hardware of one queue: works off what it is given, in order up to what must wait, on so many lanes. A stream has one lane, events
 * and waits; an unordered queue has none of the latter. Guarded by the clock's lock.
 */
final class VirtualQueue implements QueueBackend {
    /** How many fired events of a stream are kept, for waits that come late. */
    private static final int KEPT_EVENTS = 64;

    /** Something on the stream. */
    private sealed interface Entry {}

    private record Work(QueueOperation operation, long number) implements Entry {}

    private record Mark(VirtualEvent event) implements Entry {}

    private record Wait(VirtualEvent event) implements Entry {}

    private final VirtualClock clock;
    private final Object directGroup;
    private final int index;
    private final int lanes;
    private final VirtualScript script;
    private final Queue<Entry> entries = new ArrayDeque<>();
    private final TreeMap<Long, VirtualEvent> marks = new TreeMap<>(); // by epoch
    private final List<Work> running = new ArrayList<>();
    private @Nullable QueueScheduler scheduler;
    private long issued;
    private @Nullable IreeException gone; // why nothing runs any more
    private boolean waiting; // for the event at the head

    VirtualQueue(VirtualClock clock, Object directGroup, int index, int lanes, VirtualScript script) {
        this.clock = clock;
        this.directGroup = directGroup;
        this.index = index;
        this.lanes = lanes;
        this.script = script;
    }

    void connect(QueueScheduler owner) {
        scheduler = owner;
    }

    @Override
    public void issue(QueueOperation operation) {
        boolean held = HeldCallbacks.begin(); // an automatic clock goes on once its lock is free
        try {
            synchronized (clock) {
                IreeException why = gone;
                if (why != null) {
                    throw why;
                }
                entries.add(new Work(operation, ++issued));
                clock.after(0, this::proceed);
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }

    @Override
    public void recordTimepoint(long epoch) {
        synchronized (clock) {
            VirtualEvent event = VirtualEvent.create(clock);
            marks.put(epoch, event);
            entries.add(new Mark(event));
            clock.after(0, this::proceed);
            while (marks.size() > KEPT_EVENTS && marks.firstEntry().getValue().isFired()) {
                marks.pollFirstEntry();
            }
        }
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // groups are the same only if they are one
    public boolean canWaitFor(QueueBackend producer, long epoch) {
        synchronized (clock) {
            return producer instanceof VirtualQueue other
                    && other.clock == clock
                    && other.directGroup == directGroup
                    && other.marks.ceilingKey(epoch) != null;
        }
    }

    @Override
    public void waitFor(QueueBackend producer, long epoch) {
        synchronized (clock) {
            Map.Entry<Long, VirtualEvent> mark = ((VirtualQueue) producer).marks.ceilingEntry(epoch);
            if (mark != null) { // it can only have gone because it has fired
                entries.add(new Wait(mark.getValue()));
            }
        }
    }

    @Override
    public boolean canWaitForExternal(Object primitive) {
        return primitive instanceof VirtualEvent event && event.clock() == clock;
    }

    @Override
    public void waitForExternal(Object primitive) {
        synchronized (clock) {
            entries.add(new Wait((VirtualEvent) primitive));
        }
    }

    /** Starts what can be started. */
    private void proceed() {
        synchronized (clock) {
            waiting = false;
            advance();
        }
    }

    private void advance() {
        while (!waiting && running.size() < lanes && entries.peek() instanceof Entry head) {
            switch (head) {
                case Mark mark -> mark.event.fire();
                case Wait wait -> {
                    if (!wait.event.isFiredOrThen(this::proceed)) {
                        waiting = true;
                        return;
                    }
                }
                case Work work -> {
                    running.add(work);
                    clock.after(script.duration(index, work.number, work.operation), () -> end(work));
                }
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
            failure = script.failure(index, work.number, work.operation);
            delay = script.completionDelay(index, work.number, work.operation);
        }
        IreeException outcome = failure != null ? failure : ((HostWork) work.operation).execute();
        synchronized (clock) {
            if (!running.remove(work)) {
                return; // lost while it ran
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
            scheduler.completed(work.operation, outcome);
        }
    }

    /** Ends everything with a failure, and whatever is issued from now on. Who waits for events of this queue goes on. */
    void stop(IreeException cause) {
        List<Work> ended = new ArrayList<>();
        boolean held = HeldCallbacks.begin();
        try {
            synchronized (clock) {
                if (gone != null) {
                    return;
                }
                gone = cause;
                ended.addAll(running);
                running.clear();
                for (Entry entry; (entry = entries.poll()) != null; ) {
                    if (entry instanceof Work work) {
                        ended.add(work);
                    }
                }
                marks.values().forEach(VirtualEvent::fire);
            }
            for (Work work : ended) {
                report(work, cause);
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }
}
