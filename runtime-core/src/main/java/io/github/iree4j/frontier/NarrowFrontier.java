package io.github.iree4j.frontier;

import java.util.Arrays;

/**
 * A frontier whose axes are of one session and machine, with ordinals below 2^30: every one that a process makes while it is alone.
 * What they share is kept once, so an axis takes four bytes.
 */
final class NarrowFrontier extends Frontier {
    /*
     * key:   31..30   29..0
     *        domain | ordinal       compared unsigned, so keys are in the order of their axes
     */
    private static final int ORDINAL_BITS = 30;
    private static final long ORDINAL_MASK = (1L << ORDINAL_BITS) - 1;
    private static final long DOMAIN_MASK = 3L << ORDINAL_BITS;

    /** Below this many entries a loop beats the vectorised comparison of arrays. */
    private static final int SHORT = 8;

    private final int[] keys;

    NarrowFrontier(int[] keys, long[] epochs, int marks) {
        super(epochs, marks);
        this.keys = keys;
    }

    /** Whether sorted, valid axes can be kept narrow. */
    static boolean fits(long[] axes) {
        int node = Axis.node(axes[0]);
        for (long axis : axes) {
            if (Axis.node(axis) != node || Axis.ordinal(axis) > ORDINAL_MASK) {
                return false;
            }
        }
        return true;
    }

    static NarrowFrontier of(long[] axes, long[] epochs, int marks) {
        int[] keys = new int[axes.length];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = key(axes[i]);
        }
        return new NarrowFrontier(keys, epochs, marks & ~NODE_MASK | Axis.node(axes[0]));
    }

    private static int key(long axis) {
        return Axis.domainNumber(axis) << ORDINAL_BITS | (int) axis;
    }

    @Override
    public long axis(int index) {
        long key = keys[index];
        return (long) (marks & NODE_MASK) << 48 | (key & DOMAIN_MASK) << 40 - ORDINAL_BITS | key & ORDINAL_MASK;
    }

    /** Whether keys of both mean the same axes. */
    private boolean isOfNode(NarrowFrontier other) {
        return ((marks ^ other.marks) & NODE_MASK) == 0;
    }

    @Override
    boolean dominatesEntries(Frontier right) {
        if (right instanceof NarrowFrontier narrow && keys.length == narrow.keys.length && isOfNode(narrow)) {
            int i = 0;
            while (i < keys.length && keys[i] == narrow.keys[i]) {
                if (epochs[i] < narrow.epochs[i]) {
                    return false;
                }
                i++;
            }
            if (i == keys.length) {
                return true;
            }
        }
        return super.dominatesEntries(right);
    }

    @Override
    int differences(Frontier right) {
        if (right instanceof NarrowFrontier narrow && keys.length == narrow.keys.length && isOfNode(narrow)) {
            int i = 0;
            long below = 0; // gets the sign of a difference below 0; epochs are positive, so none overflows
            long above = 0;
            while (i < keys.length && keys[i] == narrow.keys[i]) {
                below |= epochs[i] - narrow.epochs[i];
                above |= narrow.epochs[i] - epochs[i];
                i++;
            }
            if (i == keys.length) {
                return (below < 0 ? BELOW : 0) | (above < 0 ? ABOVE : 0);
            }
        }
        return super.differences(right);
    }

    @Override
    long nextUndominated(Frontier right, long cursor) {
        return right instanceof NarrowFrontier narrow && isOfNode(narrow)
                ? nextUndominatedByKey(narrow, cursor)
                : nextUndominatedByAxis(right, cursor);
    }

    private long nextUndominatedByKey(NarrowFrontier right, long cursor) {
        int left = (int) (cursor >>> 32);
        int index = (int) cursor;
        int[] ourKeys = keys;
        int[] theirKeys = right.keys;
        long[] ourEpochs = epochs;
        long[] theirEpochs = right.epochs;
        for (; index < theirKeys.length; index++) {
            int key = theirKeys[index];
            while (left < ourKeys.length && Integer.compareUnsigned(ourKeys[left], key) < 0) {
                left++;
            }
            if (left == ourKeys.length || ourKeys[left] != key || ourEpochs[left] < theirEpochs[index]) {
                return (long) left << 32 | index;
            }
        }
        return end(right);
    }

    @Override
    int indexOf(long axis) {
        if (Axis.node(axis) != (marks & NODE_MASK) || Axis.ordinal(axis) > ORDINAL_MASK || !Axis.isValid(axis)) {
            return -1 - insertionPoint(axis);
        }
        int key = key(axis);
        for (int i = 0; i < keys.length; i++) {
            if (keys[i] == key) {
                return i;
            }
            if (Integer.compareUnsigned(keys[i], key) > 0) {
                return -1 - i;
            }
        }
        return -1 - keys.length;
    }

    private int insertionPoint(long axis) {
        int index = 0;
        while (index < keys.length && Axis.compare(axis(index), axis) < 0) {
            index++;
        }
        return index;
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // the same array is the common case, and the cheap one
    boolean sharesAxes(Frontier other) {
        if (!(other instanceof NarrowFrontier narrow)) {
            return false; // what fits is narrow
        }
        int[] theirs = narrow.keys;
        if (theirs == keys) {
            return isOfNode(narrow);
        }
        if (theirs.length != keys.length || !isOfNode(narrow)) {
            return false;
        }
        if (keys.length >= SHORT) {
            return Arrays.equals(keys, theirs);
        }
        for (int i = 0; i < keys.length; i++) {
            if (keys[i] != theirs[i]) {
                return false;
            }
        }
        return true;
    }

    @Override
    NarrowFrontier withEpochs(long[] newEpochs, int newMarks) {
        return new NarrowFrontier(keys, newEpochs, newMarks & ~NODE_MASK | marks & NODE_MASK);
    }
}
