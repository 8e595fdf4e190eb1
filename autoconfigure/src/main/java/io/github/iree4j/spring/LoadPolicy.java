package io.github.iree4j.spring;

/** When a program is loaded. */
public enum LoadPolicy {
    /** During application startup, which fails if the program cannot be loaded. */
    EAGER,
    /** At its first call, which waits for it. */
    LAZY,
    /** In the background of application startup; the application is not ready for requests until loading completes. */
    BACKGROUND
}
