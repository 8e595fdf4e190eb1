package io.github.iree4j.spring;

/** Lifecycle state of a program. */
public enum ProgramState {
    /** Known but not loaded: lazy and not yet called, or unloaded. */
    UNLOADED,
    /** Its files are being read, verified and linked. */
    LOADING,
    /** Its warm-up calls are being made. */
    WARMING_UP,
    /** It can be called. */
    READY,
    /** It could not be loaded, and no earlier program of its name is loaded. */
    FAILED
}
