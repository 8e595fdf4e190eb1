package io.github.iree4j.call;

import io.github.iree4j.async.CallThreads;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls of a program that were submitted and could not be made at once. Once admitted they are made one after the other, in the order in
 * which the line admits them, which is that of their submission. Safe from any thread.
 */
final class HeldCalls {
    private static final Logger LOG = LoggerFactory.getLogger(HeldCalls.class);

    private final String name;
    private final Queue<Runnable> admitted = new ConcurrentLinkedQueue<>();
    private final AtomicInteger toMake = new AtomicInteger(); // admitted ones, counted until they are made
    private final AtomicInteger held = new AtomicInteger();

    /** Names the thread that makes them. */
    HeldCalls(String name) {
        this.name = name;
    }

    /** Whether there is none, so that a call that is submitted now is not made before an earlier one. */
    boolean isEmpty() {
        return held.get() == 0;
    }

    /** A call waits to be admitted. */
    void add() {
        held.incrementAndGet();
    }

    /** Such a call has been made, or never will be. */
    void remove() {
        held.decrementAndGet();
    }

    /** Makes an admitted call soon, on a thread that may block. Does not block; MAY be called with locks held. */
    void make(Runnable call) {
        admitted.add(call);
        if (toMake.getAndIncrement() == 0) {
            CallThreads.start(name, this::makeAll);
        }
    }

    private void makeAll() {
        do {
            try {
                admitted.remove().run();
            } catch (RuntimeException | Error e) { // the others are made all the same
                LOG.error("a call could not be made: {}", name, e);
            }
        } while (toMake.decrementAndGet() > 0);
    }
}
