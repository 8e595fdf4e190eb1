package io.github.iree4j.hal;

/**
 * Host code that runs in queue order and completes after it has returned: it starts an activity, a read from the network for example, whose
 * end completes the operation. Until then the signals wait, but no thread does, and the queue continues.
 */
@FunctionalInterface
public interface DeferredHostCall {

    /**
     * Runs once all waits of the operation are reached, as a {@link HostCall} does. An exception fails the signals.
     *
     * @param completion must be completed or failed, here or later by any thread; once this has returned, only cancellation and the loss of
     *     the device end the operation otherwise
     */
    void begin(HostCallCompletion completion);
}
