package io.github.iree4j.hal.collective;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/** A participant's arrival at a meeting of a group: the input, and the callback for the outcome. */
public abstract class Arrival {
    final Frontier frontier; // predecessors of the arrival

    /**
     * Creates an arrival.
     *
     * @param frontier predecessors of the arrival
     */
    protected Arrival(Frontier frontier) {
        this.frontier = frontier;
    }

    /**
     * Ends the arrival with the outcome of the meeting. Called once, with no lock held, by the thread of the last
     * arrival or of the failure.
     *
     * @param failure the failure, or null
     * @param outcome the frontier of the meeting; empty after a failure
     */
    protected abstract void over(@Nullable IreeException failure, Frontier outcome);
}
