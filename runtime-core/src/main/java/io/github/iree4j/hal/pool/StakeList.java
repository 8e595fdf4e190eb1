package io.github.iree4j.hal.pool;

import io.github.iree4j.hal.pool.MemoryHolder.Stake;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/** Stakes in a set of pools, in insertion order; an intrusive list, since each call adds and removes a stake. Guarded by the lock of the set. */
final class StakeList implements Iterable<Stake> {
    private @Nullable Stake head;
    private @Nullable Stake tail;

    /** Appends a stake, unless present. */
    void add(Stake stake) {
        if (stake.listed) {
            return;
        }
        stake.listed = true;
        Stake last = tail;
        stake.before = last;
        if (last == null) {
            head = stake;
        } else {
            last.behind = stake;
        }
        tail = stake;
    }

    /** Removes a stake, if present. */
    void remove(Stake stake) {
        if (!stake.listed) {
            return;
        }
        stake.listed = false;
        Stake before = stake.before;
        Stake behind = stake.behind;
        if (before == null) {
            head = behind;
        } else {
            before.behind = behind;
        }
        if (behind == null) {
            tail = before;
        } else {
            behind.before = before;
        }
        stake.before = null;
        stake.behind = null;
    }

    /** Returns a copy as a list. */
    List<Stake> all() {
        List<Stake> all = new ArrayList<>();
        forEach(all::add);
        return all;
    }

    @Override
    public Iterator<Stake> iterator() {
        return new Iterator<>() {
            private @Nullable Stake next = head;

            @Override
            public boolean hasNext() {
                return next != null;
            }

            @Override
            public Stake next() {
                Stake stake = next;
                if (stake == null) {
                    throw new NoSuchElementException();
                }
                next = stake.behind;
                return stake;
            }
        };
    }
}
