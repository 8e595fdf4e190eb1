package io.github.iree4j.spring;

/** The time of loading a program. */
public enum LoadPolicy {
    /** During application startup, which fails if the program cannot be loaded. */
    EAGER,
    /** At the first call, which waits for the load. */
    LAZY,
    /** In the background of application startup; the application is not ready for requests until loading completes. */
    BACKGROUND
}
