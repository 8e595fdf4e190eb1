package io.github.iree4j.frontier;

import java.util.Arrays;

/**
 * A frontier of no or several entries whose axes share a session and machine and have ordinals below 2^30, like all
 * axes within a process. The shared part is stored once, so an axis takes four bytes.
 */
final class NarrowFrontier extends Frontier {
    /*
     * key:   31..30   29..0
     *        domain | ordinal       compared unsigned, so keys are in the order of their axes
     */
    private static final int ORDINAL_BITS = 30;
    private static final long ORDINAL_MASK = (1L << ORDINAL_BITS) - 1;
    private static final long DOMAIN_MASK = 3L << ORDINAL_BITS;

    private final int[] keys;
    private final long[] epochs;

    NarrowFrontier(int[] keys, long[] epochs, int marks) {
        super(marks);
        this.keys = keys;
        this.epochs = epochs;
    }

    /** Returns whether sorted, valid axes can be stored narrowly. */
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
    public int size() {
        return epochs.length;
    }

    @Override
    public long epoch(int index) {
        return epochs[index];
    }

    @Override
    public long axis(int index) {
        long key = keys[index];
        return (long) (marks & NODE_MASK) << 48 | (key & DOMAIN_MASK) << 40 - ORDINAL_BITS | key & ORDINAL_MASK;
    }

    /** Returns whether both frontiers have the same node, so that keys are comparable. */
    private boolean isOfNode(NarrowFrontier other) {
        return ((marks ^ other.marks) & NODE_MASK) == 0;
    }

    @Override
    boolean dominatesEntries(Frontier right) {
        if (right instanceof NarrowFrontier narrow && isOfNode(narrow)) {
            int count = keys.length;
            if (count == narrow.keys.length) {
                int same = 0;
                while (same < count && keys[same] == narrow.keys[same]) {
                    if (epochs[same] < narrow.epochs[same]) {
                        return false;
                    }
                    same++;
                }
                if (same == count) {
                    return true;
                }
            }
        }
        return super.dominatesEntries(right);
    }

    @Override
    int differences(Frontier right) {
        if (right instanceof NarrowFrontier narrow && isOfNode(narrow)) {
            int count = keys.length;
            if (count == narrow.keys.length) {
                int equal = 0;
                while (equal < count && keys[equal] == narrow.keys[equal] && epochs[equal] == narrow.epochs[equal]) {
                    equal++;
                }
                return equal == count ? 0 : differencesFrom(equal, narrow);
            }
        }
        return super.differences(right);
    }

    /** Returns the differences from an equally long frontier whose first {@code equal} entries are equal. */
    private int differencesFrom(int equal, NarrowFrontier right) {
        long below = 0;
        long above = 0;
        int same = equal;
        while (same < keys.length && keys[same] == right.keys[same]) {
            below |= epochs[same] - right.epochs[same];
            above |= right.epochs[same] - epochs[same];
            same++;
        }
        return same == keys.length ? signs(below, above) : super.differences(right);
    }

    /** Returns the signs of the differences; epochs are positive, so no difference overflows. */
    private static int signs(long below, long above) {
        return (below < 0 ? BELOW : 0) | (above < 0 ? ABOVE : 0);
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
    boolean sharesAxes(Frontier other) {
        // Axes that fit are always narrow; most comparisons share one array.
        return other instanceof NarrowFrontier narrow && isOfNode(narrow) && Arrays.equals(keys, narrow.keys);
    }

    @Override
    NarrowFrontier withEpochs(long[] newEpochs, int newMarks) {
        return new NarrowFrontier(keys, newEpochs.clone(), newMarks & ~NODE_MASK | marks & NODE_MASK);
    }

    @Override
    NarrowFrontier withMarks(int newMarks) {
        return new NarrowFrontier(keys, epochs, newMarks & ~NODE_MASK | marks & NODE_MASK);
    }

    @Override
    boolean raise(Frontier shape, long[] raised) {
        if (!(shape instanceof NarrowFrontier narrow) || keys.length != narrow.keys.length || !isOfNode(narrow)) {
            return false;
        }
        int same = 0;
        while (same < keys.length && keys[same] == narrow.keys[same]) {
            if (raised[same] < epochs[same]) {
                raised[same] = epochs[same];
            }
            same++;
        }
        return same == keys.length;
    }
}
