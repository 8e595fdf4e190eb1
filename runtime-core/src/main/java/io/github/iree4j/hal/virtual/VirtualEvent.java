package io.github.iree4j.hal.virtual;

import io.github.iree4j.async.HeldCallbacks;
import java.util.ArrayList;
import java.util.List;

/**
 * A mark on a stream, or outside, that streams can wait for: recorded once, fired once, like an event of a GPU. As the primitive of
 * {@link io.github.iree4j.async.TimelineSemaphore#promiseExternal} it stands for foreign work.
 */
public final class VirtualEvent {
    private final VirtualClock clock;
    private boolean fired; // guarded by clock
    private final List<Runnable> waiting = new ArrayList<>(); // guarded by clock

    private VirtualEvent(VirtualClock clock) {
        this.clock = clock;
    }

    /**
     * Creates an event that nobody has fired.
     *
     * @param clock the clock of the streams that may wait for it
     * @return the event
     */
    public static VirtualEvent create(VirtualClock clock) {
        return new VirtualEvent(clock);
    }

    VirtualClock clock() {
        return clock;
    }

    /**
     * Returns whether it has been fired.
     *
     * @return true from then on
     */
    public boolean isFired() {
        synchronized (clock) {
            return fired;
        }
    }

    /** Fires it: streams that wait for it go on. Harmless when repeated. */
    public void fire() {
        boolean held = HeldCallbacks.begin(); // an automatic clock goes on once its lock is free
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

    /** Under the clock's lock: whether it has fired; if not, plans the action for when it does. */
    boolean isFiredOrThen(Runnable action) {
        if (!fired) {
            waiting.add(action);
        }
        return fired;
    }
}
