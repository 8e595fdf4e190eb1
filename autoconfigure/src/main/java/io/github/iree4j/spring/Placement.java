package io.github.iree4j.spring;

/** What the devices of a program are for. */
public enum Placement {
    /** The program sees all of them and uses them as it was compiled to. */
    FIXED,
    /** The program is loaded on each, and a call goes to the one that has the fewest under way. */
    LEAST_LOADED
}
