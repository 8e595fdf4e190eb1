package io.github.iree4j.spring.problems;

import io.github.iree4j.hal.PendingOperation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A graph of work waiting for other work. Work has a number, and an edge leads from waiting work to the future
 * signaller. Each method takes time and memory in proportion to the work and the edges, and no method is recursive: a
 * chain may be as long as the work. Confined to one thread.
 */
final class WaitGraph {
    private static final int NONE = -1;

    /** An edge of a cycle. */
    record Edge(int waiter, PendingOperation.@Nullable Wait awaited) {}

    private final int[] firstOut; // by work; NONE for none
    private final int[] firstIn;
    private final List<PendingOperation.@Nullable Wait> waits = new ArrayList<>(); // by edge, like the arrays below
    private int[] waiter = new int[16];
    private int[] signaller = new int[16];
    private int[] nextOut = new int[16];
    private int[] nextIn = new int[16];

    /** Creates a graph of the given amount of work, without edges. */
    WaitGraph(int works) {
        firstOut = new int[works];
        firstIn = new int[works];
        Arrays.fill(firstOut, NONE);
        Arrays.fill(firstIn, NONE);
    }

    /** Adds an edge. */
    void add(int whatWaits, int onWhat, PendingOperation.@Nullable Wait wait) {
        int edge = waits.size();
        if (edge == waiter.length) {
            waiter = Arrays.copyOf(waiter, 2 * edge);
            signaller = Arrays.copyOf(signaller, 2 * edge);
            nextOut = Arrays.copyOf(nextOut, 2 * edge);
            nextIn = Arrays.copyOf(nextIn, 2 * edge);
        }
        waits.add(wait);
        waiter[edge] = whatWaits;
        signaller[edge] = onWhat;
        nextOut[edge] = firstOut[whatWaits];
        firstOut[whatWaits] = edge;
        nextIn[edge] = firstIn[onWhat];
        firstIn[onWhat] = edge;
    }

    /** Returns the edges of the work waiting for some work. */
    List<Edge> waiting(int onWhat) {
        List<Edge> edges = new ArrayList<>();
        for (int edge = firstIn[onWhat]; edge != NONE; edge = nextIn[edge]) {
            edges.add(new Edge(waiter[edge], waits.get(edge)));
        }
        return edges;
    }

    /** Returns some work and all work waiting for some of this work, also through other work. */
    BitSet behind(BitSet some) {
        BitSet found = (BitSet) some.clone();
        int[] open = new int[firstIn.length];
        int count = 0;
        for (int each = some.nextSetBit(0); each >= 0; each = some.nextSetBit(each + 1)) {
            open[count++] = each;
        }
        while (count > 0) {
            for (int edge = firstIn[open[--count]]; edge != NONE; edge = nextIn[edge]) {
                if (!found.get(waiter[edge])) {
                    found.set(waiter[edge]);
                    open[count++] = waiter[edge];
                }
            }
        }
        return found;
    }

    /** Returns the work in a cycle, and the work waiting for such work. */
    BitSet deadlocked() {
        int works = firstOut.length;
        int[] left = new int[works];
        int[] free = new int[works];
        int count = 0;
        for (int each = 0; each < works; each++) {
            for (int edge = firstOut[each]; edge != NONE; edge = nextOut[edge]) {
                left[each]++;
            }
            if (left[each] == 0) {
                free[count++] = each;
            }
        }
        BitSet deadlocked = new BitSet(works);
        deadlocked.set(0, works);
        while (count > 0) {
            int each = free[--count];
            deadlocked.clear(each);
            for (int edge = firstIn[each]; edge != NONE; edge = nextIn[edge]) {
                if (--left[waiter[edge]] == 0) {
                    free[count++] = waiter[edge];
                }
            }
        }
        return deadlocked;
    }

    /**
     * Returns a cycle.
     *
     * @param start work in a cycle, or waiting for such work
     * @param deadlocked all such work
     * @return the edges of the cycle, in order
     */
    List<Edge> cycle(int start, BitSet deadlocked) {
        BitSet passed = new BitSet(firstOut.length);
        int at = start;
        while (!passed.get(at)) {
            passed.set(at);
            at = signaller[edgeWithin(at, deadlocked)];
        }
        List<Edge> cycle = new ArrayList<>();
        int first = at;
        do {
            int edge = edgeWithin(at, deadlocked);
            cycle.add(new Edge(at, waits.get(edge)));
            at = signaller[edge];
        } while (at != first);
        return cycle;
    }

    private int edgeWithin(int work, BitSet deadlocked) {
        int edge = firstOut[work];
        while (!deadlocked.get(signaller[edge])) {
            edge = nextOut[edge];
        }
        return edge;
    }
}
