package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.gpu.GpuEvents.Event;
import io.github.iree4j.hal.stream.Submission;
import io.github.iree4j.nativeaccess.gpu.GpuWords;
import java.util.ArrayList;
import java.util.List;

/** The events that the next submission of a lane waits for, with a user each. Owned by the feeding thread. */
final class AwaitedEvents {
    private final GpuLane lane;
    private final GpuEvents events;
    private final List<Event> awaited = new ArrayList<>();

    AwaitedEvents(GpuLane lane, GpuEvents events) {
        this.lane = lane;
        this.events = events;
    }

    /** Finds the events awaited by a submission; returns whether all are there, or follows the timeline of a missing event. */
    boolean find(Submission next) {
        for (int i = 0; i < next.waitCount(); i++) {
            GpuTimeline other = (GpuTimeline) next.waitTimeline(i);
            long value = next.waitValue(i);
            if (find(other, value)) {
                continue;
            }
            other.follow(lane); // GPU-3
            if (!find(other, value)) {
                forget();
                return false;
            }
        }
        return true;
    }

    private boolean find(GpuTimeline other, long value) {
        if (other.hasReached(value)) {
            return true;
        }
        Event event = other.event(value);
        if (event != null) {
            awaited.add(event);
        }
        return event != null || other.hasReached(value);
    }

    /** Adds a wait for each event. */
    void addTo(GpuWords words) {
        awaited.forEach(each -> words.await(each.handle));
    }

    /** Releases the events. */
    void forget() {
        awaited.forEach(events::release);
        awaited.clear();
    }
}
