package io.github.iree4j.call;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.HeldCallbacks;
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

    /**
     * An admitted call.
     *
     * @param isBrief whether making the call takes no longer than starting a thread
     */
    private record Held(Runnable call, boolean isBrief) {}

    private final String name;
    private final Queue<Held> admitted = new ConcurrentLinkedQueue<>();
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

    /**
     * Makes an admitted call soon: on this thread once the callbacks under way are over, if the call is brief, because
     * waking another thread may take as long as the call; otherwise on a thread that may block. Does not block; MAY be
     * called with locks held.
     *
     * @param isBrief whether making the call takes no longer than starting a thread
     */
    void make(Runnable call, boolean isBrief) {
        admitted.add(new Held(call, isBrief));
        if (toMake.getAndIncrement() > 0) {
            return;
        }
        if (HeldCallbacks.isInCallback()) { // this thread runs the callback once its locks are released
            HeldCallbacks.runLast(this::makeFirst);
        } else {
            CallThreads.start(name, this::makeAll);
        }
    }

    /** Makes the first call if it is brief, and leaves the rest to another thread. */
    private void makeFirst() {
        Held first = admitted.peek();
        if (first != null && first.isBrief() && !makeOne()) {
            return;
        }
        CallThreads.start(name, this::makeAll);
    }

    private void makeAll() {
        while (makeOne()) {
            continue;
        }
    }

    /** Makes a call, and returns whether there are more. */
    private boolean makeOne() {
        try {
            admitted.remove().call().run();
        } catch (RuntimeException | Error e) { // the other calls are still made
            LOG.error("a call could not be made: {}", name, e);
        }
        return toMake.decrementAndGet() > 0;
    }
}
