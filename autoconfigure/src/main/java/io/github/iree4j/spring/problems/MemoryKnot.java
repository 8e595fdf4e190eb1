package io.github.iree4j.spring.problems;

import java.time.Duration;
import java.util.List;

/**
 * Work waits for memory held by other work.
 *
 * @param subject the device
 * @param holders the memory held by each program
 * @param waiting amount of affected work
 * @param chain the waiting work, at least the oldest
 * @param since the longest wait
 */
public record MemoryKnot(String subject, String holders, int waiting, List<String> chain, Duration since)
        implements Problem {

    @Override
    public String kind() {
        return "memory-knot";
    }

    @Override
    public String summary() {
        return "%d wait for memory of %s: %s".formatted(waiting, subject, holders);
    }

    @Override
    public String remedy() {
        return "raise iree.pools.<device>.budget or quotas, make fewer calls at once, or cancel one of them";
    }
}
