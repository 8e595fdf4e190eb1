package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;

/**
 * A value of a native timeline that submissions can wait for.
 *
 * @param device the device whose submissions can wait for it
 * @param timeline the timeline
 * @param value the value
 */
record ForeignPoint(StreamDevice device, DriverTimeline timeline, long value) {

    /** Whether it is reached; also where the queue is gone. */
    boolean hasPassed() {
        if (!timeline.tryRetain()) {
            return true;
        }
        try {
            return timeline.value() >= value;
        } catch (IreeException e) {
            return true; // lost
        } finally {
            timeline.release();
        }
    }
}
