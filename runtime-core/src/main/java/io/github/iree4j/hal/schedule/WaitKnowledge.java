package io.github.iree4j.hal.schedule;

/**
 * What a stream concludes about its waits. Every device uses {@link #FRONTIERS}; the others exist to measure what that is worth, on
 * virtual devices. All are correct: they differ in how many waits are needed, and in when the host must act.
 */
public enum WaitKnowledge {
    /** A wait is dropped when the frontier of the stream, or of another wait of the operation, implies it. */
    FRONTIERS,
    /** A wait is dropped only when its value is reached, or when it is for an earlier operation of the same stream. */
    TIMELINES,
    /**
     * As {@link #TIMELINES}, and there is nothing to wait for until the producer is on its stream: an operation that is submitted
     * before its producer is held back until the host has seen the producer's end.
     */
    EVENTS
}
