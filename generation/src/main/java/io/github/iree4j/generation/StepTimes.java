package io.github.iree4j.generation;

import java.time.Duration;

/**
 * The times of steps since a request's last token. Steps of others are counted once for all requests, in {@link Totals}, so
 * that a step costs nothing for requests without a row in the step. Not thread-safe.
 */
final class StepTimes {
    private Totals totals = new Totals(); // of no planner yet
    private boolean running; // has pages
    private long prefillsBefore; // of the totals: steps already counted here, and own steps
    private long decodesBefore;
    private long own;
    private long waiting;
    private long prefills;
    private long decodes;
    private int preemptions;

    /** The times of all steps of a planner. */
    static final class Totals {
        private long prefills;
        private long decodes;

        void passed(boolean prefill, long nanos) {
            if (prefill) {
                prefills += nanos;
            } else {
                decodes += nanos;
            }
        }
    }

    /** The request waits for pages of a planner. */
    void arrives(Totals ofPlanner) {
        totals = ofPlanner;
        reset();
    }

    /** The request has pages from now on. */
    void runs() {
        count();
        running = true;
    }

    /** The request waits for pages again. */
    void waits() {
        count();
        running = false;
    }

    /** The request waits for pages again, which another request has. */
    void preempted() {
        preemptions++;
        waits();
    }

    /** Counts a step of the request, which the totals contain. */
    void own(boolean prefill, long nanos) {
        own += nanos;
        if (prefill) {
            prefillsBefore += nanos;
        } else {
            decodesBefore += nanos;
        }
    }

    /** Counts the steps of others since the last count. */
    private void count() {
        long newPrefills = totals.prefills - prefillsBefore;
        long newDecodes = totals.decodes - decodesBefore;
        if (running) {
            prefills += newPrefills;
            decodes += newDecodes;
        } else {
            waiting += newPrefills + newDecodes;
        }
        prefillsBefore = totals.prefills;
        decodesBefore = totals.decodes;
    }

    /**
     * Returns the delay of a token.
     *
     * @param index index of the token among the generated tokens
     * @param time nanoseconds since the token before
     */
    TokenDelay delay(int index, long time) {
        count();
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
        prefillsBefore = totals.prefills;
        decodesBefore = totals.decodes;
        own = 0;
        waiting = 0;
        prefills = 0;
        decodes = 0;
        preemptions = 0;
    }
}
