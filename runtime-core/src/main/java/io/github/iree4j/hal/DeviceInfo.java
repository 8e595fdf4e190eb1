package io.github.iree4j.hal;

import io.github.iree4j.frontier.Axis;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A device available from a driver.
 *
 * @param driver the driver's name, for example {@code local}
 * @param id the id for opening the device, unique among all drivers, for example {@code local}
 * @param name display name
 * @param details further facts for display: type, limits, features, memory, in the driver's order
 */
public record DeviceInfo(String driver, String id, String name, Map<String, String> details) {
    private static final Pattern ELSEWHERE = Pattern.compile(".*@m([0-9]{1,3})\\.s[0-9]{1,3}");

    /** Copies the details. */
    public DeviceInfo {
        details = Collections.unmodifiableMap(new LinkedHashMap<>(details));
    }

    /**
     * Creates a description without details.
     *
     * @param driver the driver's name
     * @param id the id for opening the device
     * @param name display name
     */
    public DeviceInfo(String driver, String id, String name) {
        this(driver, id, name, Map.of());
    }

    /**
     * Returns the machine of a device.
     *
     * @param id the id of the device; the id of a device of another node ends in the machine and session of that node,
     *     as in {@code local@m1.s7}
     * @param axis the axis of a queue of the device, belonging to this node
     * @return the machine index
     */
    public static int machine(String id, long axis) {
        Matcher elsewhere = ELSEWHERE.matcher(id);
        return elsewhere.matches() ? Integer.parseInt(elsewhere.group(1)) : Axis.machine(axis);
    }
}
