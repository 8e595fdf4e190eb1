package io.github.iree4j.spring.problems;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.DurationText;
import java.time.Duration;
import java.util.List;

/**
 * A call runs, or waits for a function written in Java, without an end.
 *
 * @param subject the program and the function
 * @param waiting amount of affected work
 * @param chain the call, and calls in line behind the call
 * @param holders the holders of the device's memory; empty for none
 * @param since the time for which the call, or the oldest of several calls, has run or waited
 * @param call the id of the call, or of the oldest of several calls
 * @param hasDeadline whether the call ends at a deadline
 */
@NotForApplications
public record EndlessCall(
        String subject, int waiting, List<String> chain, String holders, Duration since, long call, boolean hasDeadline)
        implements Problem {

    @Override
    public String kind() {
        return "endless-call";
    }

    @Override
    public String summary() {
        return "%s runs for %s; %d are in line behind it%s"
                .formatted(subject, DurationText.rounded(since), waiting - 1, holders.isEmpty() ? "" : "; " + holders);
    }

    @Override
    public String remedy() {
        return "a loop in the program, in a Java function or in a kernel does not end; to cancel the call, POST /actuator/iree/calls/"
                + call
                + " with {\"action\":\"cancel\"}, which management.endpoint.iree.access=unrestricted permits; "
                + (hasDeadline
                        ? "a lower iree.invocation.timeout ends later calls sooner"
                        : "it has no deadline: set iree.invocation.timeout, and iree.modules.<name>.timeout if there is one, above 0, for later calls");
    }
}
