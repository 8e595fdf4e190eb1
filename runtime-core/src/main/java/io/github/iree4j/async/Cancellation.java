package io.github.iree4j.async;

/** Takes a registered callback back. Safe from any thread, any number of times. */
@FunctionalInterface
public interface Cancellation {

    /** Of a callback that has been called. */
    Cancellation OVER = () -> false;

    /**
     * Takes the callback back if it is still registered.
     *
     * @return true if the callback will never be called because of this call; false if it has been, or is being, called, or was
     *     cancelled before
     */
    boolean cancel();
}
