package io.github.iree4j.hal.schedule;

/** What a {@link QueueScheduler} decides about one wait of an operation. In the order of cost. */
public enum WaitDecision {
    /** The value is reached. */
    REACHED,
    /** The producer is earlier on the operation's own stream. */
    ELIDED_FIFO,
    /** The stream runs after the producer already. */
    ELIDED_FRONTIER,
    /** Another wait of the operation implies it. */
    COVERED,
    /** The device waits for the producer. */
    DEVICE_WAIT,
    /** The host holds the operation back until there is a promise, or the value itself. */
    DEFERRED_UNKNOWN,
    /** The host holds the operation back until the value is reached: the device has nothing to wait for. */
    DEFERRED_UNREACHED
}
