package io.github.iree4j.spring;

/** Lifecycle state of a program. */
public enum ProgramState {
    /** Known but not loaded: lazy and not yet called, unloaded, or the load was cancelled or late. */
    UNLOADED,
    /** Files are being read, verified and linked. */
    LOADING,
    /** Warm-up calls are being made. */
    WARMING_UP,
    /** The program can be called. */
    READY,
    /** The program could not be loaded, and no earlier program of the same name is loaded. */
    FAILED
}
