package io.github.iree4j.hal.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/** The memory of a holder in a set of pools. Guarded by the lock of the set. */
final class Holding {
    private static final VarHandle PEAK;

    static {
        try {
            PEAK = MethodHandles.lookup().findVarHandle(Holding.class, "peak", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final MemoryHolder holder;
    final PoolSet set;
    final @Nullable Holding next;
    private final @Nullable Holding outer; // holding of the outer call
    final long age; // age of the call: lower ages came first
    long live;
    long heldSince; // number of grants before the holding began to hold memory
    private long whole; // live, plus bytes of the calls made by the call
    private long peak; // peak of whole; opaque: gates read the peak without the lock
    boolean kept; // whether the memory counts as kept by the host
    int waiting; // requests in line
    boolean failing; // whether a request was failed, so that the call is about to end and release its memory
    long failedAt; // time of the failure, in nanoseconds of the clock
    boolean hopeful; // scratch of a look at the line

    /** The account of the bytes; the first account, should there be several. */
    @Nullable
    Account account;

    // Links of the list of holdings relevant to waiters, see HoldingList.
    @Nullable
    Holding before;

    @Nullable
    Holding behind;

    boolean listed;

    Holding(MemoryHolder holder, PoolSet set, @Nullable Holding next, @Nullable Holding outer) {
        this.holder = holder;
        this.set = set;
        this.next = next;
        this.outer = outer;
        this.age = set.nextAge();
    }

    /** Bytes held by the call and the calls made by the call. */
    long whole() {
        return whole;
    }

    /** Adds to the held bytes, or subtracts. */
    void hold(long bytes) {
        live += bytes;
        for (Holding each = this; each != null; each = each.outer) {
            each.whole += bytes;
            if (each.whole > each.peak) {
                PEAK.setOpaque(each, each.whole);
            }
        }
    }

    long peak() {
        return (long) PEAK.getOpaque(this);
    }

    /** Whether only the host, or the unloading of a program, releases the memory. */
    boolean isOver() {
        return holder.isComplete() || holder.isKept();
    }

    /** Whether the call waits for memory itself, and is not about to end. */
    boolean isWaiting() {
        return waiting > 0 && !failing;
    }
}
