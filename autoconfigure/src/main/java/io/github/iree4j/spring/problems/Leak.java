package io.github.iree4j.spring.problems;

import io.github.iree4j.api.NotForApplications;
import java.time.Duration;
import java.util.List;

/**
 * Tensors were dropped without being closed; the tensors' memory is lost.
 *
 * @param subject the program charged for the tensors, and the place of creation if recorded
 * @param count number of tensors
 */
@NotForApplications
public record Leak(String subject, long count) implements Problem {

    @Override
    public String kind() {
        return "leak";
    }

    @Override
    public String summary() {
        return "%d tensors of %s were never closed".formatted(count, subject);
    }

    @Override
    public List<String> chain() {
        return List.of();
    }

    @Override
    public String remedy() {
        return "close results and tensors; iree.leaks.trace=true shows where they are created";
    }

    @Override
    public Duration since() {
        return Duration.ZERO;
    }
}
