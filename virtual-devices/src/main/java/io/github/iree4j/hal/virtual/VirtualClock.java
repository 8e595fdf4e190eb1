package io.github.iree4j.hal.virtual;

import io.github.iree4j.async.HeldCallbacks;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The time and the event queue of virtual devices. Interacting devices share a clock.
 *
 * <p>A stepped clock advances only on request, on the requesting thread: due events happen in the order of time, and
 * events of equal time in the order of scheduling. An automatic clock advances by itself as soon as there is an event,
 * on the submitting or signalling thread.
 *
 * <p>Safe from any thread; deterministic when used by a single thread.
 */
public final class VirtualClock {
    /** A scheduled event; a last event happens when no other event is due at the same time. */
    private record Event(long time, boolean last, long order, Runnable action) {}

    private final boolean automatic;
    private final PriorityQueue<Event> events = new PriorityQueue<>(Comparator.comparingLong(Event::time)
            .thenComparing(Event::last)
            .thenComparingLong(Event::order)); // guarded by this
    private long planned; // guarded by this
    private volatile long now; // written under this

    private VirtualClock(boolean automatic) {
        this.automatic = automatic;
    }

    /**
     * Creates a clock that advances on request.
     *
     * @return the clock, at 0
     */
    public static VirtualClock stepped() {
        return new VirtualClock(false);
    }

    /**
     * Creates a clock that advances as soon as there is an event.
     *
     * @return the clock, at 0
     */
    public static VirtualClock automatic() {
        return new VirtualClock(true);
    }

    /**
     * Returns the time.
     *
     * @return ticks since the clock was created
     */
    public long now() {
        return now;
    }

    /**
     * Runs the next event, advancing the time to the event.
     *
     * @return false without an event
     */
    public boolean step() {
        Event next = next(Long.MAX_VALUE);
        if (next == null) {
            return false;
        }
        run(next);
        return true;
    }

    /**
     * Schedules an action. On an automatic clock the action runs at once, and the time advances.
     *
     * @param delay ticks from now, at least 0
     * @param action run on the thread that advances the clock
     * @return cancels the action, unless already run
     */
    public Runnable schedule(long delay, Runnable action) {
        AtomicBoolean open = new AtomicBoolean(true);
        after(delay, () -> {
            if (open.getAndSet(false)) {
                action.run();
            }
        });
        return () -> open.set(false);
    }

    private static void run(Event event) {
        boolean held = HeldCallbacks.begin(); // actions acquire locks and schedule while holding locks
        try {
            event.action.run();
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /**
     * Runs all events, including events scheduled by these events.
     *
     * @return the number of events run
     */
    public long runUntilIdle() {
        long steps = 0;
        while (step()) {
            steps++;
        }
        return steps;
    }

    /**
     * Runs all events up to a time, and advances to the time.
     *
     * @param time the time, inclusive
     */
    public void runUntil(long time) {
        for (Event next; (next = next(time)) != null; ) {
            run(next);
        }
        synchronized (this) {
            now = Math.max(now, time);
        }
    }

    /**
     * Runs the first event scheduled for a time now, out of order and without advancing the time: for tests that try
     * all orders.
     *
     * @return false when no event is scheduled for the time
     */
    boolean happen(long time) {
        Event found = null;
        synchronized (this) {
            for (Event each : events) {
                if (each.time == time && (found == null || each.order < found.order)) {
                    found = each;
                }
            }
            events.remove(found);
        }
        if (found != null) {
            run(found);
        }
        return found != null;
    }

    private synchronized @Nullable Event next(long limit) {
        Event next = events.peek();
        if (next == null || next.time > limit) {
            return null;
        }
        now = Math.max(now, next.time);
        return events.remove();
    }

    /**
     * Schedules an action, run without any lock. Callers holding a lock also defer callbacks, since an automatic clock
     * may advance before the return.
     */
    void after(long delay, Runnable action) {
        add(delay, false, action);
    }

    /** As {@link #after} without delay, but after all other events due now, and all events scheduled by such events for now. */
    void last(Runnable action) {
        add(0, true, action);
    }

    private void add(long delay, boolean last, Runnable action) {
        synchronized (this) {
            events.add(new Event(now + delay, last, planned++, action));
        }
        if (automatic) {
            HeldCallbacks.run(this::runUntilIdle);
        }
    }

    @Override
    public String toString() {
        return "virtual time " + now;
    }
}
