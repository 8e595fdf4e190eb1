package io.github.iree4j.hal.pool;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/** Holdings in a set of pools, in insertion order; an intrusive list, since each call adds and removes a holding. Guarded by the lock of the set. */
final class HoldingList implements Iterable<Holding> {
    private @Nullable Holding head;
    private @Nullable Holding tail;

    /** Appends a holding, unless present. */
    void add(Holding holding) {
        if (holding.listed) {
            return;
        }
        holding.listed = true;
        Holding last = tail;
        holding.before = last;
        if (last == null) {
            head = holding;
        } else {
            last.behind = holding;
        }
        tail = holding;
    }

    /** Removes a holding, if present. */
    void remove(Holding holding) {
        if (!holding.listed) {
            return;
        }
        holding.listed = false;
        Holding before = holding.before;
        Holding behind = holding.behind;
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
        holding.before = null;
        holding.behind = null;
    }

    /** Returns a copy as a list. */
    List<Holding> all() {
        List<Holding> all = new ArrayList<>();
        forEach(all::add);
        return all;
    }

    @Override
    public Iterator<Holding> iterator() {
        return new Iterator<>() {
            private @Nullable Holding next = head;

            @Override
            public boolean hasNext() {
                return next != null;
            }

            @Override
            public Holding next() {
                Holding holding = next;
                if (holding == null) {
                    throw new NoSuchElementException();
                }
                next = holding.behind;
                return holding;
            }
        };
    }
}
