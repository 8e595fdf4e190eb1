package io.github.iree4j.hal.stream;

/** Submissions to lanes, for claims about drivers. */
public final class StressSubmissions {
    private StressSubmissions() {}

    /**
     * Returns a submission that waits for nothing and does nothing.
     *
     * @param ticket to which it raises its lane
     * @return the submission
     */
    public static Submission plain(long ticket) {
        return new Submission(TimelineWaits.NONE, null, ticket, null);
    }

    /**
     * Returns a submission that waits for a point and does nothing.
     *
     * @param ticket to which it raises its lane
     * @param timeline what it waits for
     * @param value its value
     * @return the submission
     */
    public static Submission after(long ticket, DriverTimeline timeline, long value) {
        TimelineWaits waits = new TimelineWaits();
        waits.add(timeline, value);
        return new Submission(waits, null, ticket, null);
    }
}
