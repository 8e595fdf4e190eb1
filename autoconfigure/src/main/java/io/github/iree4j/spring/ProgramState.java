package io.github.iree4j.spring;

/** How far a program is. */
public enum ProgramState {
    /** Known, not loaded: a lazy one before its first call, or one that was unloaded. */
    UNLOADED,
    /** Its files are read, checked and linked. */
    LOADING,
    /** It is called for the first time. */
    WARMING_UP,
    /** It can be called. */
    READY,
    /** It could not be loaded; what was loaded before under its name is gone. */
    FAILED
}
