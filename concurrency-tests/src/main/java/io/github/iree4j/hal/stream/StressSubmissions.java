package io.github.iree4j.hal.stream;

/** Submissions to lanes, for claims about drivers. */
public final class StressSubmissions {
    private StressSubmissions() {}

    /**
     * Returns a submission without waits and without work.
     *
     * @param ticket the ticket to raise the lane to
     * @return the submission
     */
    public static Submission plain(long ticket) {
        return new Submission(TimelineWaits.NONE, null, ticket, null);
    }

    /**
     * Returns a submission with a wait for a point and without work.
     *
     * @param ticket the ticket to raise the lane to
     * @param timeline the timeline waited for
     * @param value the value waited for
     * @return the submission
     */
    public static Submission after(long ticket, DriverTimeline timeline, long value) {
        TimelineWaits waits = new TimelineWaits();
        waits.add(timeline, value);
        return new Submission(waits, null, ticket, null);
    }
}
