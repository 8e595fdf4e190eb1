package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;

/**
 * Host code run in queue order and completing after its return: the code starts an activity, for example a read from
 * the network, and the end of the activity completes the operation. Until then the signals wait, but no thread does,
 * and the queue continues.
 */
@FunctionalInterface
@NotForApplications
public interface DeferredHostCall {

    /**
     * Runs once all waits of the operation are reached, like a {@link HostCall}. An exception fails the signals.
     *
     * @param completion must be completed or failed, here or later by any thread; after the return of this method, only
     *     cancellation and the loss of the device end the operation otherwise
     */
    void begin(HostCallCompletion completion);
}
