package io.github.iree4j.hal;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A device that a driver can open.
 *
 * @param driver the driver's name, for example {@code local}
 * @param id the id to open it by, unique among all drivers, for example {@code local}
 * @param name its name, for display
 * @param details further facts for display: type, limits, features, memory, in the driver's order
 */
public record DeviceInfo(String driver, String id, String name, Map<String, String> details) {
    /** Copies the details. */
    public DeviceInfo {
        details = Collections.unmodifiableMap(new LinkedHashMap<>(details));
    }

    /**
     * Creates a description without details.
     *
     * @param driver the driver's name
     * @param id the id to open it by
     * @param name what it is
     */
    public DeviceInfo(String driver, String id, String name) {
        this(driver, id, name, Map.of());
    }
}
