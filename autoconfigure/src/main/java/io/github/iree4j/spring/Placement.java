package io.github.iree4j.spring;

/** A program's use of several devices. */
public enum Placement {
    /** The program sees all devices and uses them as compiled. */
    FIXED,
    /** The program is loaded on each device; a call goes to the device with the fewest calls in flight. */
    LEAST_LOADED
}
