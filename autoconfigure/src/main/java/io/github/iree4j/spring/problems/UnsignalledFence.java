package io.github.iree4j.spring.problems;

import io.github.iree4j.api.NotForApplications;
import java.time.Duration;
import java.util.List;

/**
 * Work waits for a point of a timeline not signalled by any submitted operation.
 *
 * @param subject the timeline
 * @param value the awaited value
 * @param reached the current value
 * @param external whether external code has promised a signal of the value
 * @param waiting amount of affected work
 * @param links the way from waiting work to the missing signal
 * @param chain the waiting work, at least the oldest
 * @param since the longest wait
 */
@NotForApplications
public record UnsignalledFence(
        String subject,
        long value,
        long reached,
        boolean external,
        int waiting,
        List<String> links,
        List<String> chain,
        Duration since)
        implements Problem {

    @Override
    public String kind() {
        return "unsignalled-fence";
    }

    @Override
    public String summary() {
        return "%s is at %d and nothing that was submitted signals %d%s; %d wait for it"
                .formatted(subject, reached, value, external ? ", which external code has promised" : "", waiting);
    }

    @Override
    public String remedy() {
        return external
                ? "look at the process or device that promised the signal"
                : "signal the timeline, submit the work that does, or fail it; otherwise cancel what waits";
    }
}
