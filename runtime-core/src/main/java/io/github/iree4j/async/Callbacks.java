package io.github.iree4j.async;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The callbacks due on one thread.
 *
 * <p>A callback may signal, which makes more callbacks due. Run from inside each other they would overflow the stack after a few
 * thousand; so the outermost one runs them all, in the order in which they became due.
 */
final class Callbacks {
    private static final Logger LOG = LoggerFactory.getLogger(Callbacks.class);
    private static final String THREW = "a timepoint threw; the work that waited on it may never run";
    private static final ThreadLocal<Callbacks> CURRENT = ThreadLocal.withInitial(Callbacks::new);

    /** Something to be called. Whoever makes it due owns it, and its link, from then on. */
    abstract static class Due {
        /** What is called after it. */
        @Nullable
        Due due;

        abstract void deliver();
    }

    private @Nullable Due head; // thread-confined like everything here
    private @Nullable Due tail;
    private boolean running;
    private final ArrayDeque<Runnable> last = new ArrayDeque<>(0); // for when nothing else is due

    private Callbacks() {}

    /** Runs a chain that is due, now or after the callback that this thread is in. */
    static void run(Due first) {
        Callbacks mine = CURRENT.get();
        if (mine.running) {
            mine.append(first);
            return;
        }
        mine.running = true;
        try {
            if (first.due == null) {
                deliver(first); // most are alone: not worth a list, whose writes the collector would look at
            } else {
                mine.append(first);
            }
            mine.drain();
        } finally {
            mine.running = false;
        }
    }

    private void append(Due first) {
        Due last = first;
        while (last.due != null) {
            last = last.due;
        }
        if (tail == null) {
            head = first;
        } else {
            tail.due = first;
        }
        tail = last;
    }

    /** Calls a timepoint whose value is reached, now or after the callback that this thread is in. */
    static void call(Timepoint timepoint, long value) {
        Callbacks mine = CURRENT.get();
        if (mine.running) {
            run(new Reached(timepoint, value));
            return;
        }
        mine.running = true;
        try {
            timepoint.reached(value, null);
        } catch (Throwable t) { // as in drain()
            LOG.error(THREW, t);
        } finally {
            try {
                mine.drain();
            } finally {
                mine.running = false;
            }
        }
    }

    private static final class Reached extends Due {
        private final Timepoint timepoint;
        private final long value;

        Reached(Timepoint timepoint, long value) {
            this.timepoint = timepoint;
            this.value = value;
        }

        @Override
        void deliver() {
            timepoint.reached(value, null);
        }
    }

    /**
     * Runs what is due on this thread before it blocks: host code called from a callback may wait for work that is queued behind
     * that very callback.
     */
    static void help() {
        CURRENT.get().drain();
    }

    static boolean isRunning() {
        return CURRENT.get().running;
    }

    /** From now on what becomes due on this thread is kept; returns whether {@link #letGo} has to run it. */
    static boolean hold() {
        Callbacks mine = CURRENT.get();
        if (mine.running) {
            return false; // whoever runs runs them
        }
        mine.running = true;
        return true;
    }

    /** Runs what was kept since {@link #hold} returned true. */
    static void letGo() {
        Callbacks mine = CURRENT.get();
        try {
            mine.drain();
        } finally {
            mine.running = false;
        }
    }

    /** Runs something now, or after the callback that this thread is in or once it lets go. */
    static void runLater(Runnable action) {
        run(new Action(action));
    }

    /** Runs something once nothing else is due on this thread: now, or after the callbacks that it is in or keeps back, and theirs. */
    static void runLast(Runnable action) {
        Callbacks mine = CURRENT.get();
        if (mine.running) {
            mine.last.add(action);
        } else {
            run(new Action(action));
        }
    }

    private static final class Action extends Due {
        private final Runnable action;

        Action(Runnable action) {
            this.action = action;
        }

        @Override
        void deliver() {
            action.run();
        }
    }

    private void drain() {
        for (; ; ) {
            for (Due next; (next = head) != null; ) {
                head = next.due;
                next.due = null;
                if (head == null) {
                    tail = null;
                }
                deliver(next);
            }
            Runnable action = last.poll();
            if (action == null) {
                return;
            }
            deliver(new Action(action));
        }
    }

    private static void deliver(Due due) {
        try {
            due.deliver();
        } catch (Throwable t) { // a timepoint that throws must not take the others with it
            LOG.error(THREW, t);
        }
    }
}
