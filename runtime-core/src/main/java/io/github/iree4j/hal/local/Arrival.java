package io.github.iree4j.hal.local;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/** What a participant brings to a meeting of its group, and how it learns the outcome. */
abstract class Arrival {
    /** What happens before the arrival. */
    final Frontier frontier;

    Arrival(Frontier frontier) {
        this.frontier = frontier;
    }

    /**
     * The meeting is over. Called once, with no lock held, by the thread of whoever came last or made it fail.
     *
     * @param failure why it failed, or null
     * @param outcome the frontier of the meeting; empty when it failed
     */
    abstract void over(@Nullable IreeException failure, Frontier outcome);
}
