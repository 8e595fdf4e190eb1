package io.github.iree4j.call;

/** The state of a call, as reported by {@code PendingCall.State}. */
public enum CallState {
    BEFORE_INPUTS,
    FOR_MEMORY,
    IN_LINE,
    RUNNING,
    SUSPENDED,
    BEFORE_RESULTS
}
