package io.github.iree4j.hal;

/**
 * Counters of how a stream used its hardware.
 *
 * @param submissions how often operations were submitted to it: all that one wake makes ready is one submission
 * @param waits how often the stream waited for another, or for foreign work
 * @param points how many of its epochs other streams waited for
 * @param completions how often the host was notified of completions
 */
public record StreamCounters(long submissions, long waits, long points, long completions) {
    /** For a queue that is not a stream. */
    public static final StreamCounters NONE = new StreamCounters(0, 0, 0, 0);
}
