package io.github.iree4j.async;

import io.github.iree4j.async.TimelineSemaphore.Waiter;
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
    private static final ThreadLocal<Callbacks> CURRENT = ThreadLocal.withInitial(Callbacks::new);

    private @Nullable Waiter head; // chained through Waiter.next; thread-confined like everything here
    private @Nullable Waiter tail;
    private boolean running;

    private Callbacks() {}

    /** Runs a chain of waiters that are due, now or after the callback that this thread is in. */
    static void run(Waiter first) {
        Callbacks mine = CURRENT.get();
        Waiter last = first;
        while (last.next != null) {
            last = last.next;
        }
        if (mine.tail == null) {
            mine.head = first;
        } else {
            mine.tail.next = first;
        }
        mine.tail = last;
        if (!mine.running) {
            mine.running = true;
            try {
                mine.drain();
            } finally {
                mine.running = false;
            }
        }
    }

    /**
     * Runs what is due on this thread before it blocks: host code called from a callback may wait for work that is queued behind
     * that very callback.
     */
    static void help() {
        Callbacks mine = CURRENT.get();
        if (mine.head != null) {
            mine.drain();
        }
    }

    private void drain() {
        for (Waiter waiter; (waiter = head) != null; ) {
            head = waiter.next;
            waiter.next = null;
            if (head == null) {
                tail = null;
            }
            try {
                waiter.deliver();
            } catch (Throwable t) { // a timepoint that throws must not take the others with it
                LOG.error("a timepoint threw; the work that waited on it may never run", t);
            }
        }
    }
}
