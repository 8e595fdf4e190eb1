package io.github.iree4j.call;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.hal.pool.MemoryHolder;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Submitted calls of a program that could not be made at once. Once admitted, the calls are made one after the other,
 * in the order of admission, equal to the order of submission; except that a call waiting for memory of its inputs keeps
 * no others back, unless the order matters. The calls made by another call have their own order, and pass all others:
 * the other calls may wait for memory of the outer call. Safe from any thread.
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
    private final Order own = new Order();
    private final ConcurrentHashMap<MemoryHolder, Order> nested = new ConcurrentHashMap<>(); // while not empty

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

    /** The order of the calls made by an outer call, or by none; null for a nested order that is empty. */
    private @Nullable Order order(@Nullable MemoryHolder outer) {
        return outer == null ? own : nested.get(outer);
    }

    /** Whether no call is held, so that a call made now, by an outer call if not null, is made before no earlier call. */
    boolean isEmpty(@Nullable MemoryHolder outer) {
        Order order = order(outer);
        return order == null || order.held.get() == 0;
    }

    /** The call to be made before all others of its order; null for none. Takes no lock. */
    @Nullable
    MemoryHolder first(@Nullable MemoryHolder outer) {
        Order order = inOrder ? order(outer) : null;
        Held first = order == null ? null : order.admitted.peek();
        return first == null ? null : first.holder();
    }

    /** Counts a call waiting to be admitted. */
    void add(@Nullable MemoryHolder outer) {
        if (outer == null) {
            own.held.incrementAndGet();
            return;
        }
        nested.compute(outer, (_, known) -> {
            Order order = known == null ? new Order() : known;
            order.held.incrementAndGet();
            return order;
        });
    }

    /** Removes a counted call that has been made, or never will be made. */
    void remove(@Nullable MemoryHolder outer) {
        if (outer == null) {
            own.held.decrementAndGet();
            return;
        }
        nested.computeIfPresent(outer, (_, order) -> order.held.decrementAndGet() == 0 ? null : order);
    }

    /**
     * Makes an admitted call soon: on this thread once the callbacks under way are over, if the call is brief, because
     * waking another thread may take as long as the call; otherwise on a thread that may block. Does not block; MAY be
     * called with locks held. Does nothing for a call removed meanwhile, the last one of its order.
     *
     * @param outer the call that makes the call; null for none
     * @param holder the holder of the call's memory
     * @param isBrief whether making the call takes no longer than starting a thread
     */
    void make(@Nullable MemoryHolder outer, Making call, MemoryHolder holder, boolean isBrief) {
        Order order = order(outer);
        if (order != null) {
            order.make(new Held(call, holder, isBrief));
        }
    }

    /** Calls in their order. */
    private final class Order {
        final Queue<Held> admitted = new ConcurrentLinkedQueue<>();
        private final AtomicInteger toMake = new AtomicInteger(); // admitted calls, counted until made
        final AtomicInteger held = new AtomicInteger();

        void make(Held call) {
            admitted.add(call);
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

        /** Removes the first call, and returns whether there are more. */
        private boolean hasMore() {
            admitted.remove();
            return toMake.decrementAndGet() > 0;
        }
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
}
