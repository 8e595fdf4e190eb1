package io.github.iree4j.spring;

/** What is done when a file that a program uses in place was changed, so that its calls fail. */
public enum OnChange {
    /** Nothing: somebody loads the program again, or restores the file. */
    FAIL,
    /** The program is loaded again, once its file has stayed as it is for five looks of the watchdog. */
    RELOAD
}
