package io.github.iree4j.spring.problems;

import io.github.iree4j.api.NotForApplications;
import java.time.Duration;
import java.util.List;

/**
 * Work waits for memory kept by the application in unclosed results and tensors.
 *
 * @param subject the device
 * @param openTensors number of open tensors
 * @param kept bytes kept by the application
 * @param awaited the awaited memory
 * @param held the limit of the device, and the memory held by each program
 * @param waiting amount of affected work
 * @param chain the waiting work, at least the oldest
 * @param since the longest wait
 */
@NotForApplications
public record SlowConsumer(
        String subject,
        long openTensors,
        long kept,
        String awaited,
        String held,
        int waiting,
        List<String> chain,
        Duration since)
        implements Problem {

    @Override
    public String kind() {
        return "slow-consumer";
    }

    @Override
    public String summary() {
        return "%d wait for memory of %s of which %d open tensors keep %d bytes, for %s: %s"
                .formatted(waiting, subject, openTensors, kept, awaited, held);
    }

    @Override
    public String remedy() {
        return "close results sooner, or limit calls to what their receivers take; iree.leaks.trace shows places";
    }
}
