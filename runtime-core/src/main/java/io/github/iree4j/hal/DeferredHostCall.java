package io.github.iree4j.hal;

/**
 * Host code run in queue order that ends after it has returned: it starts something, a read from the network for example, and whoever learns of its end says so.
 * Until then the signals wait, but no thread does, and the queue goes on.
 */
@FunctionalInterface
public interface DeferredHostCall {

    /**
     * Runs once all waits of the operation are reached, as a {@link HostCall} does. A throw fails the signals.
     *
     * @param completion to be ended, here or later by any thread; nothing else ends the operation once this has returned
     */
    void begin(HostCallCompletion completion);
}
