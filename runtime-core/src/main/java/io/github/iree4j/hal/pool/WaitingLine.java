package io.github.iree4j.hal.pool;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Those who wait for memory, the oldest first: by when they asked for the first time, which for one whose memory went back unused is before
 * those who came meanwhile. Guarded by the lock of the set.
 */
final class WaitingLine {
    /** Grants memory to somebody in line, if there is some. */
    @FunctionalInterface
    interface Grant {
        /** Whether it got memory; it has been told then. */
        boolean grant(Waiter waiter, long length);
    }

    private @Nullable Waiter first;
    private @Nullable Waiter last;
    private int size;
    private int forMemory; // of those, not for their quota

    int size() {
        return size;
    }

    /**
     * Whether somebody waits whom others must not simply overtake.
     *
     * @param age when the one who wants to go past asked for the first time
     */
    boolean isHeldUp(long age) {
        if (forMemory == 0 || age == ReservationRequest.YOUNGEST) {
            return forMemory > 0;
        }
        for (Waiter each = first; each != null && each.age < age; each = each.next) {
            if (!each.byQuota) {
                return true;
            }
        }
        return false;
    }

    /** How many are like that. */
    long count(Predicate<Waiter> like) {
        return all().stream().filter(like).count();
    }

    /** Puts somebody behind all that are older; those who come are nearly always the youngest. */
    void add(Waiter waiter) {
        Waiter before = last;
        while (before != null && before.age > waiter.age) { // POOL-4
            before = before.previous;
        }
        Waiter after = before == null ? first : before.next;
        waiter.previous = before;
        waiter.next = after;
        link(before, waiter);
        linkBack(waiter, after);
        waiter.inLine = true;
        size++;
        forMemory += waiter.byQuota ? 0 : 1;
    }

    private void link(@Nullable Waiter before, @Nullable Waiter next) {
        if (before == null) {
            first = next;
        } else {
            before.next = next;
        }
    }

    private void linkBack(@Nullable Waiter previous, @Nullable Waiter after) {
        if (after == null) {
            last = previous;
        } else {
            after.previous = previous;
        }
    }

    /** Takes somebody out; returns false when it was not there. */
    boolean remove(Waiter waiter) {
        if (!waiter.inLine) { // POOL-2
            return false;
        }
        waiter.inLine = false;
        link(waiter.previous, waiter.next);
        linkBack(waiter.previous, waiter.next);
        size--;
        forMemory -= waiter.byQuota ? 0 : 1;
        return true;
    }

    /** All that wait, the oldest first. */
    List<Waiter> all() {
        List<Waiter> all = new ArrayList<>(size);
        for (Waiter each = first; each != null; each = each.next) {
            all.add(each);
        }
        return all;
    }

    /** Takes everybody out. */
    List<Waiter> removeAll() {
        List<Waiter> all = all();
        all.forEach(this::remove);
        return all;
    }

    /** The first who waits for memory of a pool. */
    @Nullable
    Waiter firstOf(Pool pool) {
        for (Waiter each = first; each != null; each = each.next) {
            if (each.pool.equals(pool)) {
                return each;
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
        for (Waiter waiter = first; waiter != null; waiter = waiter.next) { // those taken out keep their next
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
                remove(waiter); // POOL-2
            } else {
                blocked = true;
                // Unless it was the alignment that did not fit.
                pool.failedLength = tried && waiter.request.alignment() <= pool.alignment ? length : pool.failedLength;
            }
        }
        return blocked;
    }
}
