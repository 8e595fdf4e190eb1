package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;

/**
 * Counters of the hardware use of a stream.
 *
 * @param submissions submissions of operations to the stream: all operations made ready by one wake are one submission
 * @param waits waits of the stream for another stream, or for foreign work
 * @param points epochs of the stream awaited by other streams
 * @param completions completion notifications to the host
 */
@NotForApplications
public record StreamCounters(long submissions, long waits, long points, long completions) {
    /** For a queue other than a stream. */
    public static final StreamCounters NONE = new StreamCounters(0, 0, 0, 0);
}
