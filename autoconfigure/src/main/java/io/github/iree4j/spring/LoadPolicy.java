package io.github.iree4j.spring;

/** When a program is loaded. */
public enum LoadPolicy {
    /** While the application starts, which fails when the program cannot be loaded. */
    EAGER,
    /** At its first call, which waits. */
    LAZY,
    /** Beside the start of the application, which is not ready for requests until it is done. */
    BACKGROUND
}
