package io.github.iree4j.spring.problems;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.spring.ProgramSource;
import java.time.Duration;
import java.util.List;

/**
 * A file used in place by a program was changed: all calls of the program fail.
 *
 * @param subject the program
 * @param program the program's name
 * @param version the program's version
 * @param cause the file and the change
 */
@NotForApplications
public record ChangedFile(String subject, String program, String version, String cause) implements Problem {

    @Override
    public String kind() {
        return "changed-file";
    }

    @Override
    public String summary() {
        return "calls of %s fail: %s".formatted(subject, cause);
    }

    @Override
    public List<String> chain() {
        return List.of();
    }

    @Override
    public String remedy() {
        return "POST /actuator/iree/modules/%s with {\"action\":\"load\"%s}, which management.endpoint.iree.access=unrestricted permits, or restore the file"
                .formatted(
                        program,
                        version.equals(ProgramSource.DEFAULT_VERSION) ? "" : ",\"version\":\"" + version + "\"");
    }

    @Override
    public Duration since() {
        return Duration.ZERO;
    }
}
