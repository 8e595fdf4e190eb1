package io.github.iree4j.hal;

/**
 * Host code run in queue order. It runs on a thread of the runtime, or on the submitting one; it may submit work, but the queue is
 * not obliged to go on before it returns. A throw fails the operation's signals.
 */
@FunctionalInterface
public interface HostCall {

    /** Runs once all waits of the operation are reached. */
    void call();
}
