package io.github.iree4j.hal.stream;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Points of timelines awaited by a submission, at most one point per timeline. Not thread-safe. */
final class TimelineWaits {
    /** An empty set of points. Never added to. */
    static final TimelineWaits NONE = new TimelineWaits();

    private @Nullable DriverTimeline[] timelines = new @Nullable DriverTimeline[2];
    private long[] values = new long[2];
    private int count;
    private final List<DriverTimeline> foreign = new ArrayList<>(0);

    int count() {
        return count;
    }

    DriverTimeline timeline(int index) {
        DriverTimeline timeline = timelines[index];
        if (timeline == null) {
            throw new IndexOutOfBoundsException(index);
        }
        return timeline;
    }

    long value(int index) {
        return values[index];
    }

    /** Adds a point. Of two points of the same timeline, the later is kept. */
    void add(DriverTimeline timeline, long value) {
        for (int i = 0; i < count; i++) {
            if (timeline.equals(timelines[i])) {
                values[i] = Math.max(values[i], value);
                return;
            }
        }
        if (count == values.length) {
            timelines = Arrays.copyOf(timelines, count * 2);
            values = Arrays.copyOf(values, count * 2);
        }
        timelines[count] = timeline;
        values[count++] = value;
    }

    /** Adds a point of a timeline with another owner: retains the timeline until {@link #release}. */
    void addForeign(DriverTimeline timeline, long value) {
        timeline.retain();
        foreign.add(timeline);
        add(timeline, value);
    }

    /** Releases foreign timelines: the submission is complete, or will never be made. */
    void release() {
        foreign.forEach(DriverTimeline::release);
        foreign.clear();
    }
}
