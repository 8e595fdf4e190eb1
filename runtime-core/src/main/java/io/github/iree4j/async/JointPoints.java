package io.github.iree4j.async;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.MutableFrontier;
import io.github.iree4j.status.Known;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The joint values of a timeline: each is reached by the last of several signals. Few, so searched linearly. Guarded by
 * the timeline's lock.
 */
final class JointPoints {
    private @Nullable Point first;

    /** Sets the least number of signals required for a value. */
    void expect(long value, int signals) {
        Point point = findOrAdd(value);
        point.expected = Math.max(point.expected, signals);
    }

    /** Counts another signaller of a value. */
    void addSignaller(long value) {
        findOrAdd(value).submitted++;
    }

    /** Returns whether a value requires more than a single signal. */
    boolean isJoint(long value) {
        Point point = find(value);
        return point != null && point.needed() > 1;
    }

    /**
     * Counts a signal.
     *
     * @param frontier the history before the signal
     * @return for the last signal the joined frontier of all signals; null while more are expected
     */
    @Nullable
    Frontier arrive(long value, Frontier frontier) {
        Point point = find(value);
        if (point == null) {
            return frontier;
        }
        point.add(frontier);
        return ++point.arrived >= point.needed() ? point.joined() : null;
    }

    /** Removes the values up to a reached value. */
    void forget(long reached) {
        Point before = null;
        for (Point point = first; point != null; point = point.next) {
            if (point.value > reached) {
                before = point;
            } else if (before == null) {
                first = point.next;
            } else {
                before.next = point.next;
            }
        }
    }

    private @Nullable Point find(long value) {
        Point point = first;
        while (point != null && point.value != value) {
            point = point.next;
        }
        return point;
    }

    private Point findOrAdd(long value) {
        Point point = find(value);
        if (point == null) {
            point = new Point(value, first);
            first = point;
        }
        return point;
    }

    private static final class Point {
        final long value;

        @Nullable
        Point next;

        int expected;
        int submitted;
        int arrived;

        /** The frontiers of the signals so far, none of which happens before another. */
        private final List<Frontier> parts = new ArrayList<>(2);

        private boolean outside; // a signal came from external code

        Point(long value, @Nullable Point next) {
            this.value = value;
            this.next = next;
        }

        int needed() {
            return Math.max(expected, submitted);
        }

        void add(Frontier frontier) {
            outside |= frontier.isTainted() && !frontier.hasProducer();
            for (Frontier part : parts) {
                if (isBefore(frontier, part)) {
                    return;
                }
            }
            parts.removeIf(part -> isBefore(part, frontier));
            parts.add(frontier);
        }

        /** False proves nothing: then both frontiers are kept, and joined. */
        private static boolean isBefore(Frontier frontier, Frontier other) {
            return frontier.hasProducer()
                    ? other.reaches(frontier.producerAxis(), frontier.producerEpoch()) == Known.YES
                    : other.dominates(frontier);
        }

        /**
         * Returns the history before the last signal: everything before any of the signals. If one signaller runs after
         * the others, this is its frontier; else a join without a producer. A join with lost entries could never be
         * completed, so the empty frontier replaces such a join. The empty frontier asserts less, and nothing wrong:
         * the value is reached, so all its dependencies have completed.
         */
        Frontier joined() {
            if (outside) {
                return Frontier.UNKNOWN;
            }
            if (parts.size() == 1) {
                return parts.getFirst();
            }
            MutableFrontier join = new MutableFrontier(Frontier.MAXIMUM_CAPACITY);
            parts.forEach(join::merge);
            return join.isTainted() ? Frontier.EMPTY : join.snapshot();
        }
    }
}
