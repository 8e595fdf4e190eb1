package io.github.iree4j.generation;

import java.util.Arrays;
import java.util.OptionalDouble;

/** The latest values of a quantity: their mean, and how far the mean of many such values may be from it. Not thread-safe. */
final class Recent {
    private static final int FEW = 4; // a spread of fewer values says little

    private final boolean times;
    private final double[] values;
    private int count;
    private int next;

    /**
     * Creates an empty window.
     *
     * @param most number of values
     * @param times whether the longest of many values is left out: a pause of the machine is no time of a step
     */
    Recent(int most, boolean times) {
        this.values = new double[most];
        this.times = times;
    }

    void add(double value) {
        values[next] = value;
        next = (next + 1) % values.length;
        count = Math.min(values.length, count + 1);
    }

    /** Forgets all values. */
    void clear() {
        count = 0;
        next = 0;
    }

    /** Returns whether there are enough values for a spread. */
    boolean isKnown() {
        return count >= FEW;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** Returns the highest value; 0 if there is none. */
    double highest() {
        double highest = 0;
        for (int i = 0; i < count; i++) {
            highest = Math.max(highest, values[i]);
        }
        return highest;
    }

    /** Returns whether a value is outside of all values. */
    boolean isOutside(double value) {
        boolean above = true;
        boolean below = true;
        for (int i = 0; i < count; i++) {
            above &= value > values[i];
            below &= value < values[i];
        }
        return above || below;
    }

    private boolean leavesOut() {
        return times && count >= values.length / 2;
    }

    private int used() {
        return leavesOut() ? count - 1 : count;
    }

    /** Returns the mean of the values, of which there must be some. */
    double mean() {
        double sum = 0;
        for (int i = 0; i < count; i++) {
            sum += values[i];
        }
        return (leavesOut() ? sum - highest() : sum) / used();
    }

    /** Returns the mean of the values above a limit, or empty if there is no such value. */
    OptionalDouble meanAbove(double limit) {
        return Arrays.stream(values, 0, count).filter(each -> each > limit).average();
    }

    /** Returns the standard deviation of {@linkplain #isKnown() enough} values; 0 of fewer values. */
    double deviation() {
        if (!isKnown()) {
            return 0;
        }
        double mean = mean();
        double sum = 0;
        for (int i = 0; i < count; i++) {
            sum += (values[i] - mean) * (values[i] - mean);
        }
        if (leavesOut()) {
            sum -= (highest() - mean) * (highest() - mean);
        }
        return Math.sqrt(sum / (used() - 1));
    }

    /** Returns the standard error of the mean, of {@linkplain #isKnown() enough} values. */
    double error() {
        return deviation() / Math.sqrt(used());
    }
}
