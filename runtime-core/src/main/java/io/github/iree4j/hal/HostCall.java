package io.github.iree4j.hal;

/**
 * Host code that runs in queue order. The local device runs each call on a virtual thread, so the call may wait for other work, even of its
 * own queue; a stream may stand still until the call returns, so there it must not wait for work behind it on its own queue. An exception fails
 * the operation's signals. A call that completes after it has returned is a {@link DeferredHostCall}.
 */
@FunctionalInterface
public interface HostCall {

    /** Runs once all waits of the operation are reached. */
    void call();
}
