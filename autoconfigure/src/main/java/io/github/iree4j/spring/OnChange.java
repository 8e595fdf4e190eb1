package io.github.iree4j.spring;

/** The reaction to a change of a file used in place by a program, which makes calls fail. */
public enum OnChange {
    /** No reaction: somebody loads the program again, or restores the file. */
    FAIL,
    /** The program is loaded again, once the file has stayed unchanged for five checks of the watchdog. */
    RELOAD
}
