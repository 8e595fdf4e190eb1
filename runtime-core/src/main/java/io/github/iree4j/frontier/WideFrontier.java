package io.github.iree4j.frontier;

import java.util.Arrays;

/** A frontier over several sessions or machines, or with very large ordinals: stores full axes. */
final class WideFrontier extends Frontier {
    private final long[] axes;
    private final long[] epochs;

    WideFrontier(long[] axes, long[] epochs, int marks) {
        super(marks & ~NODE_MASK);
        this.axes = axes;
        this.epochs = epochs;
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
        return axes[index];
    }

    @Override
    long nextUndominated(Frontier right, long cursor) {
        return nextUndominatedByAxis(right, cursor);
    }

    @Override
    int indexOf(long axis) {
        for (int i = 0; i < axes.length; i++) {
            if (axes[i] == axis) {
                return i;
            }
            if (Axis.compare(axes[i], axis) > 0) {
                return -1 - i;
            }
        }
        return -1 - axes.length;
    }

    @Override
    boolean sharesAxes(Frontier other) {
        return other instanceof WideFrontier wide && Arrays.equals(axes, wide.axes);
    }

    @Override
    WideFrontier withEpochs(long[] newEpochs, int newMarks) {
        return new WideFrontier(axes, newEpochs.clone(), newMarks);
    }

    @Override
    WideFrontier withMarks(int newMarks) {
        return new WideFrontier(axes, epochs, newMarks);
    }

    @Override
    boolean raise(Frontier shape, long[] raised) {
        if (!sharesAxes(shape)) {
            return false;
        }
        for (int i = 0; i < epochs.length; i++) {
            raised[i] = Math.max(raised[i], epochs[i]);
        }
        return true;
    }
}
