package io.github.iree4j.spring.problems;

import io.github.iree4j.api.NotForApplications;
import java.time.Duration;
import java.util.List;

/** A source of problems outside the runtime's work. Called by the watchdog's thread and other looking threads. */
@FunctionalInterface
@NotForApplications
public interface ProblemSource {

    /**
     * Looks for problems.
     *
     * @param patience time without change after which work is reported
     * @return the problems of this moment
     */
    List<Problem> find(Duration patience);
}
