package io.github.iree4j.spring.problems;

import io.github.iree4j.api.NotForApplications;
import java.time.Duration;
import java.util.List;

/**
 * A queue does not advance although the queue has work, or a line does not although calls of the line's program end.
 *
 * @param subject the queue of a device, or the line of a program
 * @param cause the current position or activity
 * @param waiting amount of affected work
 * @param chain the waiting work, at least the oldest
 * @param since duration of this state
 */
@NotForApplications
public record StarvedQueue(String subject, String cause, int waiting, List<String> chain, Duration since)
        implements Problem {

    @Override
    public String kind() {
        return "starved-queue";
    }

    @Override
    public String summary() {
        return "%s does not advance: %s; %d wait".formatted(subject, cause, waiting);
    }

    @Override
    public String remedy() {
        return "for a device, look at its driver and at the kernel that it runs; for a device of another node, find the queue in /actuator/iree/cluster and look at that node; for a program, raise contexts or make fewer calls";
    }
}
