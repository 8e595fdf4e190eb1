package io.github.iree4j.call;

/** Where a call is, as {@code PendingCall.State} tells callers. */
public enum CallState {
    BEFORE_INPUTS,
    IN_LINE,
    RUNNING,
    SUSPENDED,
    BEFORE_RESULTS
}
