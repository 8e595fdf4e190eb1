package io.github.iree4j.hal.pool;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Those who wait for memory, in the order in which they came. Guarded by the lock of the set. */
final class WaitingLine {
    /** Grants memory to somebody in line, if there is some. */
    @FunctionalInterface
    interface Grant {
        /** Whether it got memory; it has been told then. */
        boolean grant(Waiter waiter, long length);
    }

    private final LinkedHashSet<Waiter> waiters = new LinkedHashSet<>();
    private int forMemory; // of those, not for their quota

    int size() {
        return waiters.size();
    }

    /** Whether somebody waits whom others must not simply overtake. */
    boolean isHeldUp() {
        return forMemory > 0;
    }

    /** How many are like that. */
    long count(Predicate<Waiter> like) {
        return waiters.stream().filter(like).count();
    }

    void add(Waiter waiter) {
        waiters.add(waiter);
        forMemory += waiter.byQuota ? 0 : 1;
    }

    /** Takes somebody out; returns false when it was not there. */
    boolean remove(Waiter waiter) {
        if (!waiters.remove(waiter)) { // POOL-2
            return false;
        }
        forMemory -= waiter.byQuota ? 0 : 1;
        return true;
    }

    /** All that wait, the oldest first. */
    List<Waiter> all() {
        return List.copyOf(waiters);
    }

    /** Takes everybody out. */
    List<Waiter> removeAll() {
        List<Waiter> all = List.copyOf(waiters);
        waiters.clear();
        forMemory = 0;
        return all;
    }

    /** The first who waits for memory of a pool. */
    @Nullable
    Waiter firstOf(Pool pool) {
        for (Waiter waiter : waiters) {
            if (waiter.pool.equals(pool)) {
                return waiter;
            }
        }
        return null;
    }

    /**
     * Grants what can be granted, in order.
     *
     * @param staysBehind whether a consumer may not go past somebody who does not fit
     * @return whether somebody who may have memory does not get it
     */
    boolean serve(List<Pool> pools, Predicate<Account> staysBehind, Grant memory) {
        pools.forEach(pool -> pool.failedLength = Long.MAX_VALUE);
        boolean blocked = false;
        for (Iterator<Waiter> all = waiters.iterator(); all.hasNext(); ) {
            Waiter waiter = all.next();
            Pool pool = waiter.pool;
            long length = pool.store.lengthFor(waiter.request.size());
            boolean byQuota = waiter.account.isOverQuota(length);
            forMemory += (waiter.byQuota ? 1 : 0) - (byQuota ? 1 : 0);
            waiter.byQuota = byQuota;
            if (byQuota) {
                continue;
            }
            // What did not fit for one does not for the next that asks for as much: what is left to try is in the next
            // round.
            boolean tried = length < pool.failedLength && !(blocked && staysBehind.test(waiter.account));
            if (tried && memory.grant(waiter, length)) {
                all.remove(); // POOL-2
                forMemory--;
            } else {
                blocked = true;
                // Unless it was the alignment that did not fit.
                pool.failedLength = tried && waiter.request.alignment() <= pool.alignment ? length : pool.failedLength;
            }
        }
        return blocked;
    }
}
