package io.github.iree4j.spring.problems;

import java.time.Duration;
import java.util.List;

/**
 * Work waits for memory that the application keeps in results and tensors that it has not closed.
 *
 * @param subject the device
 * @param openTensors how many tensors are open
 * @param kept bytes that the application keeps
 * @param holders what each program holds
 * @param waiting how much work is affected
 * @param chain the work that waits, at least the oldest of it
 * @param since the longest wait
 */
public record SlowConsumer(
        String subject, long openTensors, long kept, String holders, int waiting, List<String> chain, Duration since)
        implements Problem {

    @Override
    public String kind() {
        return "slow-consumer";
    }

    @Override
    public String summary() {
        return "%d wait for memory of %s of which %d open tensors keep %d bytes: %s"
                .formatted(waiting, subject, openTensors, kept, holders);
    }

    @Override
    public String remedy() {
        return "close results sooner, or limit calls to what their receivers take; iree.leaks.trace shows places";
    }
}
