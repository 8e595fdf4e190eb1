package io.github.iree4j.hal;

/**
 * What the hardware of a stream was asked for.
 *
 * @param submissions how often it was given operations: everything that one wake makes ready is one submission
 * @param waits how often the stream was made to wait for another, or for foreign work
 * @param points how many of its epochs other streams were made to wait for
 * @param completions how often the host was told that operations are over
 */
public record StreamCounters(long submissions, long waits, long points, long completions) {
    /** Of a queue that is no stream. */
    public static final StreamCounters NONE = new StreamCounters(0, 0, 0, 0);
}
