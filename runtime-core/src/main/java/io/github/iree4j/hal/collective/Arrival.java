package io.github.iree4j.hal.collective;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/** A participant's arrival at a meeting of its group: its input, and the callback for the outcome. */
public abstract class Arrival {
    final Frontier frontier; // what happens before the arrival

    /**
     * Creates an arrival.
     *
     * @param frontier what happens before
     */
    protected Arrival(Frontier frontier) {
        this.frontier = frontier;
    }

    /**
     * The meeting is complete. Called once, with no lock held, by the thread of the last arrival or of the failure.
     *
     * @param failure the failure, or null
     * @param outcome the frontier of the meeting; empty when it failed
     */
    protected abstract void over(@Nullable IreeException failure, Frontier outcome);
}
