package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;

/**
 * Host code run in queue order. The local device runs each call on a virtual thread, so the call may wait for other
 * work, even of the same queue. A stream may stand still until the call returns, so a call on a stream must not wait
 * for later work of the same queue. An exception fails the signals of the operation. For completion after the return,
 * see {@link DeferredHostCall}.
 */
@FunctionalInterface
@NotForApplications
public interface HostCall {

    /** Runs once all waits of the operation are reached. */
    void call();
}
