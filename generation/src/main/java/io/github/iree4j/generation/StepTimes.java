package io.github.iree4j.generation;

import java.time.Duration;

/** What has passed for a request since its last token. Not thread-safe. */
final class StepTimes {
    private long own;
    private long waiting;
    private long prefills;
    private long decodes;
    private int preemptions;

    /** Adds a step of the request. */
    void own(long nanos) {
        own += nanos;
    }

    /** Adds a step of others while the request had no pages. */
    void waited(long nanos) {
        waiting += nanos;
    }

    /** Adds a step of others while the request had pages. */
    void others(boolean prefill, long nanos) {
        if (prefill) {
            prefills += nanos;
        } else {
            decodes += nanos;
        }
    }

    void preempted() {
        preemptions++;
    }

    /**
     * Returns the delay of a token.
     *
     * @param index index of the token among the generated tokens
     * @param time nanoseconds since the token before
     */
    TokenDelay delay(int index, long time) {
        return new TokenDelay(
                index,
                Duration.ofNanos(time),
                Duration.ofNanos(own),
                Duration.ofNanos(waiting),
                Duration.ofNanos(prefills),
                Duration.ofNanos(decodes),
                preemptions);
    }

    /** Begins anew, after a token. */
    void reset() {
        own = 0;
        waiting = 0;
        prefills = 0;
        decodes = 0;
        preemptions = 0;
    }
}
