package io.github.iree4j.spring.problems;

import io.github.iree4j.api.NotForApplications;
import java.time.Duration;
import java.util.List;

/**
 * A device is lost: work on the device has failed, and all later work will fail.
 *
 * @param subject the device
 * @param cause the reason
 * @param chain the programs running on the device
 */
@NotForApplications
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
