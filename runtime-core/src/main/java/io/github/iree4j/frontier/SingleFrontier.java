package io.github.iree4j.frontier;

/** A frontier with a single entry, as produced by every operation without dependencies in flight. A single object, without arrays. */
final class SingleFrontier extends Frontier {
    private final long axis;
    private final long epoch;

    SingleFrontier(long axis, long epoch, int marks) {
        super(marks);
        this.axis = axis;
        this.epoch = epoch;
    }

    @Override
    public int size() {
        return 1;
    }

    @Override
    public long axis(int index) {
        checkIndex(index);
        return axis;
    }

    @Override
    public long epoch(int index) {
        checkIndex(index);
        return epoch;
    }

    private static void checkIndex(int index) {
        if (index != 0) {
            throw new IndexOutOfBoundsException(index);
        }
    }

    @Override
    boolean dominatesEntries(Frontier right) {
        return right instanceof SingleFrontier single
                ? axis == single.axis && epoch >= single.epoch
                : super.dominatesEntries(right);
    }

    @Override
    int differences(Frontier right) {
        if (right instanceof SingleFrontier single && axis == single.axis) {
            return epoch == single.epoch ? 0 : epoch < single.epoch ? BELOW : ABOVE;
        }
        return super.differences(right);
    }

    @Override
    long nextUndominated(Frontier right, long cursor) {
        return nextUndominatedByAxis(right, cursor);
    }

    @Override
    int indexOf(long wanted) {
        return wanted == axis ? 0 : Axis.compare(wanted, axis) < 0 ? -1 : -2;
    }

    @Override
    boolean sharesAxes(Frontier other) {
        return other instanceof SingleFrontier single && single.axis == axis;
    }

    @Override
    boolean raise(Frontier shape, long[] epochs) {
        if (!sharesAxes(shape)) {
            return false;
        }
        epochs[0] = Math.max(epochs[0], epoch);
        return true;
    }

    @Override
    SingleFrontier withEpochs(long[] newEpochs, int newMarks) {
        return new SingleFrontier(axis, newEpochs[0], newMarks);
    }

    @Override
    SingleFrontier withMarks(int newMarks) {
        return new SingleFrontier(axis, epoch, newMarks);
    }
}
