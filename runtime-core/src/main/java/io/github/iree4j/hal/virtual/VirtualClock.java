package io.github.iree4j.hal.virtual;

import io.github.iree4j.async.HeldCallbacks;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The time of virtual devices, and what is to happen when. Devices that work together share one.
 *
 * <p>A stepped clock moves only when told to, on the thread that tells it: everything that is due happens in the order of time, and of
 * equal times in the order in which it was planned. An automatic clock moves by itself as soon as there is something to do, on the thread
 * that submits or signals.
 *
 * <p>Safe from any thread; deterministic when used by one.
 */
public final class VirtualClock {
    /** Something that happens. */
    private record Event(long time, long order, Runnable action) {}

    private final boolean automatic;
    private final PriorityQueue<Event> events = new PriorityQueue<>(
            Comparator.comparingLong(Event::time).thenComparingLong(Event::order)); // guarded by this
    private long planned; // guarded by this
    private volatile long now; // written under this

    private VirtualClock(boolean automatic) {
        this.automatic = automatic;
    }

    /**
     * Creates a clock that moves when told to.
     *
     * @return the clock, at 0
     */
    public static VirtualClock stepped() {
        return new VirtualClock(false);
    }

    /**
     * Creates a clock that moves as soon as there is something to do.
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
     * Lets the next thing happen, moving the time up to it.
     *
     * @return false when there is nothing left
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
     * Plans something of the test's own. On an automatic clock it happens at once, and time with it.
     *
     * @param delay in how many ticks, at least 0
     * @param action what happens; on the thread that moves the clock
     * @return gives it up, unless it has happened
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
        boolean held = HeldCallbacks.begin(); // actions take locks and plan under them
        try {
            event.action.run();
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /**
     * Lets everything happen that can.
     *
     * @return how many things happened
     */
    public long runUntilIdle() {
        long steps = 0;
        while (step()) {
            steps++;
        }
        return steps;
    }

    /**
     * Lets everything happen up to a time, and moves to it.
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
     * Lets the first thing planned for a time happen now, out of its turn and without moving the time: for tests that try all orders.
     *
     * @return false when nothing is planned for that time
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
     * Plans something; it runs without any lock. Callers that hold a lock hold callbacks back as well, since an automatic clock may go on
     * before this returns.
     */
    void after(long delay, Runnable action) {
        synchronized (this) {
            events.add(new Event(now + delay, planned++, action));
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
