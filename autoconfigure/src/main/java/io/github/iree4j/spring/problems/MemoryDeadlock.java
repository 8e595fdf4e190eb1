package io.github.iree4j.spring.problems;

import io.github.iree4j.api.NotForApplications;
import java.time.Duration;
import java.util.List;

/**
 * Work waits for memory held by other work.
 *
 * @param subject the device
 * @param awaited the awaited memory
 * @param held the limit of the device, and the memory held by each program
 * @param waiting amount of affected work
 * @param chain the waiting work, at least the oldest
 * @param since the longest wait
 */
@NotForApplications
public record MemoryDeadlock(
        String subject, String awaited, String held, int waiting, List<String> chain, Duration since)
        implements Problem {

    @Override
    public String kind() {
        return "memory-deadlock";
    }

    @Override
    public String summary() {
        return "%d wait for memory of %s, for %s: %s".formatted(waiting, subject, awaited, held);
    }

    @Override
    public String remedy() {
        return "raise iree.pools.<device>.budget or quotas, make fewer calls at once, or cancel one of them";
    }
}
