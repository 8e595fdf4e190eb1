package io.github.iree4j.hal;

/**
 * Host code run in queue order. The local device gives each a virtual thread, so it may wait for other work, of its own queue too; a
 * stream need not go on before it returns, so on one it must not wait for what was submitted behind it. A throw fails the operation's
 * signals. What ends after it has returned is a {@link DeferredHostCall}.
 */
@FunctionalInterface
public interface HostCall {

    /** Runs once all waits of the operation are reached. */
    void call();
}
