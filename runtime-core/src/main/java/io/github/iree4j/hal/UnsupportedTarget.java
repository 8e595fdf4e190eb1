package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.FailureDetail;
import java.util.List;

/**
 * A program was compiled for devices that are not present.
 *
 * @param wanted formats of executables, or patterns of devices; any of these would suffice
 */
@NotForApplications
public record UnsupportedTarget(List<String> wanted) implements FailureDetail {
    /** Copies the list. */
    public UnsupportedTarget {
        wanted = List.copyOf(wanted);
    }
}
