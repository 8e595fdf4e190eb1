package io.github.iree4j.hal;

/**
 * Host code run in queue order. It runs on a worker of the runtime, or on the submitting thread; it may submit work, but the queue is
 * not obliged to go on before it returns, and it must not wait for any, since that may need the worker. A throw fails the operation's
 * signals.
 */
@FunctionalInterface
public interface HostCall {

    /** Runs once all waits of the operation are reached. */
    void call();
}
