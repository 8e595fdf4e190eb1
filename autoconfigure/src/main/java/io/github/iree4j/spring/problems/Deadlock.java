package io.github.iree4j.spring.problems;

import io.github.iree4j.api.NotForApplications;
import java.time.Duration;
import java.util.List;

/**
 * Operations wait for each other: none of the awaited values is ever signalled, though an operation would signal each.
 *
 * @param subject a timeline of the cycle
 * @param value the awaited value
 * @param reached the current value
 * @param waiting amount of affected work, the operations of the cycle included
 * @param links the way round the cycle
 * @param chain the waiting work, at least the oldest
 * @param since the longest wait
 */
@NotForApplications
public record Deadlock(
        String subject, long value, long reached, int waiting, List<String> links, List<String> chain, Duration since)
        implements Problem {

    @Override
    public String kind() {
        return "deadlock";
    }

    @Override
    public String summary() {
        return "%s is at %d, and the operation to signal %d is one of several that wait for each other; %d wait for the end of the cycle"
                .formatted(subject, reached, value, waiting);
    }

    @Override
    public String remedy() {
        return "fail the timeline, or signal the awaited value from the host; let no operation wait for an operation that"
                + " waits for its signal";
    }
}
