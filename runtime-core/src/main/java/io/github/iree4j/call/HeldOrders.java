package io.github.iree4j.call;

import io.github.iree4j.hal.pool.MemoryHolder;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The orders of a program's {@linkplain HeldCalls held calls}. The calls made by another call have their own order, and
 * pass all others: the other calls may wait for memory of the outer call. Safe from any thread.
 */
final class HeldOrders {
    private final String name;
    private final boolean inOrder;
    private final HeldCalls own;
    private final ConcurrentHashMap<MemoryHolder, HeldCalls> nested = new ConcurrentHashMap<>(); // while not empty

    /** As {@link HeldCalls#HeldCalls}. */
    HeldOrders(String name, boolean inOrder) {
        this.name = name;
        this.inOrder = inOrder;
        this.own = new HeldCalls(name, inOrder);
    }

    /** Whether a call made now, by an outer call if not null, is made before no earlier call. */
    boolean isEmpty(@Nullable MemoryHolder outer) {
        HeldCalls held = outer == null ? own : nested.get(outer);
        return held == null || held.isEmpty();
    }

    /** The call to be made before all others of its order; null for none. Takes no lock. */
    @Nullable
    MemoryHolder first(@Nullable MemoryHolder outer) {
        HeldCalls held = outer == null ? own : nested.get(outer);
        return held == null ? null : held.first();
    }

    /** Counts a call waiting to be admitted, and returns its order. */
    HeldCalls add(@Nullable MemoryHolder outer) {
        if (outer == null) {
            own.add();
            return own;
        }
        return nested.compute(outer, (_, known) -> {
            HeldCalls held = known == null ? new HeldCalls(name, inOrder) : known;
            held.add();
            return held;
        });
    }

    /** Removes a call that has been made, or never will be made. */
    void remove(@Nullable MemoryHolder outer) {
        if (outer == null) {
            own.remove();
            return;
        }
        nested.computeIfPresent(outer, (_, held) -> {
            held.remove();
            return held.isEmpty() ? null : held;
        });
    }
}
