package io.github.iree4j.async;

import org.jspecify.annotations.Nullable;

/**
 * The waiters of a timeline, in ascending order of the value waited for, equal values in order of registration. Guarded
 * by the semaphore's lock.
 */
final class WaiterList {
    private @Nullable SemaphoreWaiter head;
    private @Nullable SemaphoreWaiter tail;
    private int size;
    private boolean taken; // taken as a whole: the waiters count as unlinked, and no waiter is added

    boolean isEmpty() {
        return head == null;
    }

    /** Inserts in order, at the start or searching from the end, where new waits nearly always belong. */
    void add(SemaphoreWaiter waiter) {
        SemaphoreWaiter before = head != null && waiter.minimum < head.minimum ? null : tail;
        while (before != null && before.minimum > waiter.minimum) {
            before = before.previous;
        }
        SemaphoreWaiter after = before == null ? head : before.next;
        waiter.previous = before;
        waiter.next = after;
        if (before == null) {
            head = waiter;
        } else {
            before.next = waiter;
        }
        if (after == null) {
            tail = waiter;
        } else {
            after.previous = waiter;
        }
        waiter.linked = true;
        waiter.list = this;
        size++;
    }

    /** Unlinks all waiters for at most {@code limit} and returns these waiters, then {@code rest}, as a chain through {@code next}. */
    @Nullable
    SemaphoreWaiter takeUpTo(long limit, @Nullable SemaphoreWaiter rest) {
        SemaphoreWaiter first = head;
        SemaphoreWaiter last = null;
        SemaphoreWaiter next = first;
        while (next != null && next.minimum <= limit) {
            next.linked = false; // SEM-2
            next.previous = null;
            size--;
            last = next;
            next = next.next;
        }
        if (last == null) {
            return rest;
        }
        last.next = rest;
        head = next;
        if (next == null) {
            tail = null;
        } else {
            next.previous = null;
        }
        return first;
    }

    /** Returns whether all waiters wait for at most {@code limit}, and there are more than {@code few}. */
    boolean isCrowd(long limit, int few) {
        return size > few && tail != null && tail.minimum <= limit;
    }

    /**
     * Unlinks all waiters in constant time and returns the waiters as {@link #takeUpTo} does. Afterwards only
     * {@link #remove} may be called.
     */
    @Nullable
    SemaphoreWaiter takeAll(@Nullable SemaphoreWaiter rest) {
        taken = true; // SEM-2
        if (tail != null) {
            tail.next = rest;
        }
        return head;
    }

    /** Returns whether there is a waiter for at most a value. */
    boolean isAwaited(long value) {
        return head != null && head.minimum <= value;
    }

    /** Unlinks a waiter; false when unlinked already. */
    boolean remove(SemaphoreWaiter waiter) {
        if (!waiter.linked || taken) {
            return false;
        }
        waiter.linked = false; // SEM-2
        size--;
        if (waiter.previous == null) {
            head = waiter.next;
        } else {
            waiter.previous.next = waiter.next;
        }
        if (waiter.next == null) {
            tail = waiter.previous;
        } else {
            waiter.next.previous = waiter.previous;
        }
        waiter.previous = null;
        waiter.next = null;
        return true;
    }
}
