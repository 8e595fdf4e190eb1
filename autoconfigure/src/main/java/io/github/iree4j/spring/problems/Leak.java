package io.github.iree4j.spring.problems;

import java.time.Duration;
import java.util.List;

/**
 * Tensors were dropped without being closed; their memory is lost.
 *
 * @param subject the program that they were charged to, and the place of their creation if that is recorded
 * @param count how many
 */
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
