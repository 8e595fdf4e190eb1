package io.github.iree4j.spring.problems;

import java.time.Duration;
import java.util.List;

/** Knows problems of work that the runtime does not have. Called by the watchdog's thread and those that look. */
@FunctionalInterface
public interface ProblemSource {

    /**
     * Looks for problems.
     *
     * @param patience how long work may stay as it is
     * @return the problems of this moment
     */
    List<Problem> find(Duration patience);
}
