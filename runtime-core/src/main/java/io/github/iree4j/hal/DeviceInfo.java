package io.github.iree4j.hal;

/**
 * A device that a driver can open.
 *
 * @param driver the driver's name, for example {@code local}
 * @param id what to open it by, unique among all drivers, for example {@code local}
 * @param name what it is, for people
 */
public record DeviceInfo(String driver, String id, String name) {}
