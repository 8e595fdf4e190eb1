package io.github.iree4j.hal.schedule;

/** Decision of a {@link QueueScheduler} about a wait of an operation. In the order of cost. */
public enum WaitDecision {
    /** The value is reached. */
    REACHED,
    /** The producer is earlier on the operation's own stream. */
    ELIDED_FIFO,
    /** The stream already runs after the producer. */
    ELIDED_FRONTIER,
    /** Another wait of the operation implies this wait. */
    COVERED,
    /** The device waits for the producer. */
    DEVICE_WAIT,
    /** The host holds the operation back until the value is promised or reached. */
    DEFERRED_UNKNOWN,
    /** The host holds the operation back until the value is reached: the device has nothing to wait for. */
    DEFERRED_UNREACHED
}
