package io.github.iree4j.async;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The callbacks due on one thread.
 *
 * <p>A callback may signal, making more callbacks due. Nested callbacks would overflow the stack after a few thousand;
 * so the outermost call runs all callbacks, in the order in which they became due.
 */
final class Callbacks {
    private static final Logger LOG = LoggerFactory.getLogger(Callbacks.class);
    private static final String THREW = "a timepoint threw; the work that waited on it may never run";
    private static final ThreadLocal<Callbacks> CURRENT = ThreadLocal.withInitial(Callbacks::new);

    /** A callback. The thread making the callback due owns the callback and its link from then on. */
    abstract static class Due {
        /** The next callback. */
        @Nullable
        Due due;

        abstract void deliver();
    }

    private @Nullable Due head; // thread-confined like everything here
    private @Nullable Due tail;
    private boolean running;
    private int resumed; // crowd waiters resumed since this thread began to run or hold callbacks
    private boolean resumesAll; // whether this thread was chosen to resume a crowd
    private final ArrayDeque<Runnable> last = new ArrayDeque<>(0); // run when nothing else is due

    private Callbacks() {}

    /** Runs a chain of due callbacks, now or after this thread's current callback. */
    static void run(Due first) {
        Callbacks mine = CURRENT.get();
        if (mine.running) {
            mine.append(first);
            return;
        }
        mine.running = true;
        try {
            if (first.due == null) {
                deliver(first); // mostly a single callback: avoids list writes, which cost GC barriers
            } else {
                mine.append(first);
            }
            mine.drain();
        } finally {
            mine.ended();
        }
    }

    private void ended() {
        running = false;
        resumed = 0;
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

    /** Calls a timepoint whose value is reached, now or after this thread's current callback. */
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
                mine.ended();
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
     * Runs this thread's due callbacks before the thread blocks: host code called from a callback may wait for work
     * queued behind the same callback.
     */
    static void help() {
        CURRENT.get().drain();
    }

    /**
     * Counts waiters about to be resumed by this thread.
     *
     * @param count waiters that another thread may resume
     * @return true, without counting, if this thread would resume too many, one after the other or at once: another
     *     thread resumes these waiters
     */
    static boolean isCrowded(int count) {
        Callbacks mine = CURRENT.get();
        int all = mine.running ? mine.resumed + count : count;
        if (all > SemaphoreWaiter.FEW && !mine.resumesAll) {
            return true;
        }
        mine.resumed = all;
        return false;
    }

    /** Lets this thread resume any number of waiters, or ends this. */
    static void resumeAll(boolean whether) {
        CURRENT.get().resumesAll = whether;
    }

    static boolean isRunning() {
        return CURRENT.get().running;
    }

    /** Holds back callbacks that become due on this thread; returns whether {@link #letGo} has to run them. */
    static boolean hold() {
        Callbacks mine = CURRENT.get();
        if (mine.running) {
            return false; // the running drain runs them
        }
        mine.running = true;
        return true;
    }

    /** Runs the callbacks held back since {@link #hold} returned true. */
    static void letGo() {
        Callbacks mine = CURRENT.get();
        try {
            mine.drain();
        } finally {
            mine.ended();
        }
    }

    /** Runs an action now, after this thread's current callback, or at {@link #letGo}. */
    static void runLater(Runnable action) {
        run(new Action(action));
    }

    /**
     * Runs an action once nothing else is due on this thread: now, or after the current and held callbacks and all
     * callbacks made due by these.
     */
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
        } catch (Throwable t) { // a throwing timepoint must not prevent the others
            LOG.error(THREW, t);
        }
    }
}
