package io.github.iree4j.spring.problems;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.DurationText;
import java.time.Duration;
import java.util.List;

/**
 * Requests for memory of a device failed, since others held the memory.
 *
 * @param subject the device
 * @param failed number of these requests since the problem began
 * @param awaited the memory of the latest of these requests
 * @param held the limit of the device, and the memory held by each program soon after the latest failure
 * @param openTensors number of tensors open then
 * @param ago the time since the latest failure
 * @param since duration of the repeated failures
 */
@NotForApplications
public record MemoryShortage(
        String subject, long failed, String awaited, String held, long openTensors, Duration ago, Duration since)
        implements Problem {

    @Override
    public String kind() {
        return "memory-shortage";
    }

    @Override
    public String summary() {
        return "%d requests for memory of %s have failed, the last one %s ago for %s, since others held the memory: %s; %d tensors were open"
                .formatted(failed, subject, DurationText.rounded(ago), awaited, held, openTensors);
    }

    @Override
    public List<String> chain() {
        return List.of();
    }

    @Override
    public String remedy() {
        return "close results sooner, make fewer calls at once, or raise iree.pools.<device>.budget or quotas; iree.leaks.trace shows the places of open tensors";
    }
}
