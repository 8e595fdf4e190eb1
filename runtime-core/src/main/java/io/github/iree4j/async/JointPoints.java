package io.github.iree4j.async;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.MutableFrontier;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The values of one timeline that are reached with the last of several signals. Few, so searched one by one. Guarded by its lock. */
final class JointPoints {
    private @Nullable Point first;

    /** Says that a value takes that many signals at least. */
    void expect(long value, int signals) {
        Point point = findOrAdd(value);
        point.expected = Math.max(point.expected, signals);
    }

    /** Counts one more that has been submitted to signal a value. */
    void addSignaller(long value) {
        findOrAdd(value).submitted++;
    }

    /**
     * Takes one back that will not signal after all.
     *
     * @return whether the value has all its signals now
     */
    boolean removeSignaller(long value) {
        Point point = find(value);
        if (point == null) {
            return false;
        }
        point.submitted--;
        if (point.needed() == 0) {
            remove(value);
            return point.arrived > 0;
        }
        return point.arrived >= point.needed();
    }

    /** Returns whether a value waits for more than one signal. */
    boolean isJoint(long value) {
        Point point = find(value);
        return point != null && point.needed() > 1;
    }

    /**
     * Counts a signal.
     *
     * @param frontier what happens before it
     * @return with the last that the value takes what happens before all of them; null while there are more to come
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

    /** Forgets the values up to one that is reached. */
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

    private void remove(long value) {
        Point before = null;
        for (Point point = first; point != null; point = point.next) {
            if (point.value != value) {
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

        /** What is known of the signals so far, none of it before another. */
        private final List<Frontier> parts = new ArrayList<>(2);

        private boolean outside; // somebody of whom nothing is known has a part

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

        private static boolean isBefore(Frontier frontier, Frontier other) {
            return frontier.hasProducer()
                    ? other.reaches(frontier.producerAxis(), frontier.producerEpoch())
                    : other.dominates(frontier);
        }

        /**
         * What happens before the last of the signals: all that happens before any. Where one signaller runs behind the others, what that
         * one knows; else a join, which nobody produced. One of which entries were lost would never be whole again, so it claims nothing.
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
