package io.github.iree4j.hal.virtual;

import io.github.iree4j.async.HeldCallbacks;
import java.util.ArrayList;
import java.util.List;

/**
 * An event for streams to wait for, on a stream or outside: recorded once, fired once, like a GPU event. As the
 * primitive of {@link io.github.iree4j.async.TimelineSemaphore#promiseExternal} the event represents foreign work.
 */
public final class VirtualEvent {
    private final VirtualClock clock;
    private boolean fired; // guarded by clock
    private final List<Runnable> waiting = new ArrayList<>(); // guarded by clock

    private VirtualEvent(VirtualClock clock) {
        this.clock = clock;
    }

    /**
     * Creates an unfired event.
     *
     * @param clock the clock of the streams waiting for the event
     * @return the event
     */
    public static VirtualEvent create(VirtualClock clock) {
        return new VirtualEvent(clock);
    }

    VirtualClock clock() {
        return clock;
    }

    /**
     * Returns whether the event has been fired.
     *
     * @return true once the event has been fired
     */
    public boolean isFired() {
        synchronized (clock) {
            return fired;
        }
    }

    /** Fires the event: waiting streams continue. Idempotent. */
    public void fire() {
        boolean held = HeldCallbacks.begin(); // an automatic clock advances once its lock is free
        try {
            synchronized (clock) {
                if (fired) {
                    return;
                }
                fired = true;
                for (Runnable stream : waiting) {
                    clock.after(0, stream);
                }
                waiting.clear();
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /** Under the clock's lock: returns whether the event has fired; if not, runs the action later, on firing. */
    boolean isFiredOrThen(Runnable action) {
        if (!fired) {
            waiting.add(action);
        }
        return fired;
    }
}
