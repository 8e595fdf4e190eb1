package io.github.iree4j.async;

/** Cancels a registered callback. Safe from any thread; idempotent. */
@FunctionalInterface
public interface Cancellation {

    /** For a callback that has been called. */
    Cancellation OVER = () -> false;

    /**
     * Cancels the callback if it is still registered.
     *
     * @return true if the callback will never be called because of this call; false if it has been, or is being, called, or was
     *     cancelled before
     */
    boolean cancel();
}
