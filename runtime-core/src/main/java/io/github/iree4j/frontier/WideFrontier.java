package io.github.iree4j.frontier;

import java.util.Arrays;

/** A frontier over several sessions or machines, or with very large ordinals: whole axes. */
final class WideFrontier extends Frontier {
    private final long[] axes;

    WideFrontier(long[] axes, long[] epochs, int marks) {
        super(epochs, marks & ~NODE_MASK);
        this.axes = axes;
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
        return new WideFrontier(axes, newEpochs, newMarks);
    }
}
