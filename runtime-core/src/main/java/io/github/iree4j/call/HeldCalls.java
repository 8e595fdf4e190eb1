package io.github.iree4j.call;

import io.github.iree4j.async.CallThreads;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Submitted calls of a program that could not be made at once. Once admitted, the calls are made one after the other,
 * in the order of admission, equal to the order of submission. Safe from any thread.
 */
final class HeldCalls {
    private static final Logger LOG = LoggerFactory.getLogger(HeldCalls.class);

    private final String name;
    private final Queue<Runnable> admitted = new ConcurrentLinkedQueue<>();
    private final AtomicInteger toMake = new AtomicInteger(); // admitted calls, counted until made
    private final AtomicInteger held = new AtomicInteger();

    /** Names the thread that makes the calls. */
    HeldCalls(String name) {
        this.name = name;
    }

    /** Whether no call is held, so that a call submitted now is not made before an earlier call. */
    boolean isEmpty() {
        return held.get() == 0;
    }

    /** Counts a call waiting to be admitted. */
    void add() {
        held.incrementAndGet();
    }

    /** Removes a call that has been made, or never will be made. */
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
            } catch (RuntimeException | Error e) { // the other calls are still made
                LOG.error("a call could not be made: {}", name, e);
            }
        } while (toMake.decrementAndGet() > 0);
    }
}
