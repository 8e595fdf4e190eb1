package io.github.iree4j.spring.problems;

import java.time.Duration;
import java.util.List;

/**
 * A device is lost: work on it has failed, and so will all later work.
 *
 * @param subject the device
 * @param cause why
 * @param chain the programs that run on it
 */
public record LostDevice(String subject, String cause, List<String> chain) implements Problem {

    @Override
    public String kind() {
        return "lost-device";
    }

    @Override
    public String summary() {
        return "%s was lost: %s".formatted(subject, cause);
    }

    @Override
    public String remedy() {
        return "restart the application, unless the device belongs to another node: it is opened again when the node comes; see the driver's own log for the cause";
    }

    @Override
    public Duration since() {
        return Duration.ZERO;
    }
}
