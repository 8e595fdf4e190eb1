package io.github.iree4j.hal;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A device that a driver can open.
 *
 * @param driver the driver's name, for example {@code local}
 * @param id what to open it by, unique among all drivers, for example {@code local}
 * @param name what it is, for people
 * @param details what else the driver knows about it, for people: type, limits, features, memory, in the driver's order
 */
public record DeviceInfo(String driver, String id, String name, Map<String, String> details) {
    /** Copies. */
    public DeviceInfo {
        details = Collections.unmodifiableMap(new LinkedHashMap<>(details));
    }

    /**
     * Describes a device of which nothing else is known.
     *
     * @param driver the driver's name
     * @param id what to open it by
     * @param name what it is
     */
    public DeviceInfo(String driver, String id, String name) {
        this(driver, id, name, Map.of());
    }
}
