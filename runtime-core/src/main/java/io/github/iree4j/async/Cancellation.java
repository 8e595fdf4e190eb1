package io.github.iree4j.async;

/** Cancels a registered callback. Safe from any thread; idempotent. */
@FunctionalInterface
public interface Cancellation {

    /** The cancellation of a callback already called. */
    Cancellation OVER = () -> false;

    /**
     * Cancels the callback if it is still registered.
     *
     * @return true if the callback will never be called because of this call; false if the callback has been, or is
     *     being, called, or was cancelled before
     */
    boolean cancel();
}
