package io.github.iree4j.hal.pool;

import io.github.iree4j.status.Known;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Requests waiting for memory, by the age of the first attempt, oldest first: a request whose memory was returned
 * unused keeps its place before requests made in between. Guarded by the lock of the set.
 */
final class WaitingLine {
    /** Grants memory to a waiter. */
    interface Grant {
        /**
         * Returns whether a waiter may be granted memory now.
         *
         * @param isBehind whether an earlier waiter was not granted
         */
        boolean mayGo(Waiter waiter, boolean isBehind);

        /**
         * Grants memory if there is enough.
         *
         * @return YES when the waiter was granted and its listener called; NO when memory of that length does not fit;
         *     UNKNOWN when memory is left to another waiter, which it may fit
         */
        Known grant(Waiter waiter);
    }

    private @Nullable Waiter first;
    private @Nullable Waiter last;
    private int size;
    private int forMemory; // number of requests not waiting for a quota

    int size() {
        return size;
    }

    /**
     * Whether a request waits that others must not simply overtake.
     *
     * @param age the age of the overtaking request
     */
    boolean isHeldUp(long age) {
        return forMemory > 0 && (age == ReservationRequest.YOUNGEST || firstBefore(age, each -> !each.byQuota) != null);
    }

    /** The first matching waiter older than an age. */
    @Nullable
    Waiter firstBefore(long age, Predicate<Waiter> like) {
        for (Waiter each = first; each != null && each.age < age; each = each.next) {
            if (like.test(each)) {
                return each;
            }
        }
        return null;
    }

    /** The number of matching waiters. */
    long count(Predicate<Waiter> like) {
        return all().stream().filter(like).count();
    }

    /** Inserts a waiter behind all older waiters; a new waiter is nearly always the youngest. */
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

    /** Removes a waiter; returns false when the waiter was not in line. */
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

    /** All waiters, oldest first. */
    List<Waiter> all() {
        List<Waiter> all = new ArrayList<>(size);
        for (Waiter each = first; each != null; each = each.next) {
            all.add(each);
        }
        return all;
    }

    /** Removes all waiters. */
    List<Waiter> removeAll() {
        List<Waiter> all = all();
        all.forEach(this::remove);
        return all;
    }

    /**
     * Grants all grantable requests, in order.
     *
     * @return whether a waiter within its quota was not granted
     */
    boolean serve(List<Pool> pools, Grant memory) {
        pools.forEach(pool -> pool.failedLength = Long.MAX_VALUE);
        boolean blocked = false;
        for (Waiter waiter = first; waiter != null; waiter = waiter.next) { // removed waiters keep their next
            Pool pool = waiter.pool;
            long length = waiter.length;
            boolean byQuota = waiter.account.isOverQuota(length);
            forMemory += (waiter.byQuota ? 1 : 0) - (byQuota ? 1 : 0);
            waiter.byQuota = byQuota;
            if (byQuota) {
                continue;
            }
            // A length that did not fit does not fit the next waiter either: the remaining possibilities are tried in
            // the next round. Memory left to another waiter proves nothing about the length.
            boolean tried = length < pool.failedLength && memory.mayGo(waiter, blocked);
            Known granted = tried ? memory.grant(waiter) : Known.UNKNOWN;
            if (granted == Known.YES) {
                remove(waiter); // POOL-2
            } else {
                blocked = true;
                // Unless only the alignment did not fit.
                boolean failed = granted == Known.NO && waiter.request.alignment() <= pool.alignment;
                pool.failedLength = failed ? length : pool.failedLength;
            }
        }
        return blocked;
    }
}
