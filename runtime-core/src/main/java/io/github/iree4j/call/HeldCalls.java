package io.github.iree4j.call;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.hal.pool.MemoryHolder;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Submitted calls of a program that could not be made at once. Once admitted, the calls are made one after the other,
 * in the order of admission, equal to the order of submission; except that a call waiting for memory of its inputs keeps
 * no others back, unless the order matters. Safe from any thread.
 */
final class HeldCalls {
    private static final Logger LOG = LoggerFactory.getLogger(HeldCalls.class);

    /** Makes a call. */
    interface Making {
        /**
         * Makes the call, or fails the call.
         *
         * @param mayWait whether this thread may wait for memory of inputs
         * @return false if the call needs a thread that may wait; never if this thread may
         */
        boolean make(boolean mayWait);
    }

    /**
     * An admitted call.
     *
     * @param holder the holder of the call's memory
     * @param isBrief whether making the call takes no longer than starting a thread
     */
    private record Held(Making call, MemoryHolder holder, boolean isBrief) {}

    private final String name;
    private final boolean inOrder;
    private final Queue<Held> admitted = new ConcurrentLinkedQueue<>();
    private final AtomicInteger toMake = new AtomicInteger(); // admitted calls, counted until made
    private final AtomicInteger held = new AtomicInteger();

    /**
     * Creates the held calls of a program.
     *
     * @param name the name of the threads that make the calls
     * @param inOrder whether no call is made before an earlier call
     */
    HeldCalls(String name, boolean inOrder) {
        this.name = name;
        this.inOrder = inOrder;
    }

    /** Whether no call is held, so that a call submitted now is not made before an earlier call. */
    boolean isEmpty() {
        return held.get() == 0;
    }

    /** The call to be made before all others; null for none. Takes no lock. */
    @Nullable
    MemoryHolder first() {
        Held first = inOrder ? admitted.peek() : null;
        return first == null ? null : first.holder();
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
     * @param holder the holder of the call's memory
     * @param isBrief whether making the call takes no longer than starting a thread
     */
    void make(Making call, MemoryHolder holder, boolean isBrief) {
        admitted.add(new Held(call, holder, isBrief));
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
        if (first != null && first.isBrief() && tryMake(first.call(), false) && !hasMore()) {
            return;
        }
        CallThreads.start(name, this::makeAll);
    }

    private void makeAll() {
        do {
            Making call = admitted.element().call();
            if (!tryMake(call, inOrder)) {
                CallThreads.start(name, () -> tryMake(call, true));
            }
        } while (hasMore());
    }

    /** As {@link Making#make}. A thrown exception keeps no other call from being made. */
    private boolean tryMake(Making call, boolean mayWait) {
        try {
            return call.make(mayWait);
        } catch (RuntimeException | Error e) {
            LOG.error("a call could not be made: {}", name, e);
            return true;
        }
    }

    /** Removes the first call, and returns whether there are more. */
    private boolean hasMore() {
        admitted.remove();
        return toMake.decrementAndGet() > 0;
    }
}
