package io.github.iree4j.hal;

import io.github.iree4j.status.IreeException;

/**
 * The completion of a {@linkplain DeferredHostCall deferred host call}; the queue makes it. The first attempt to end it decides; later ones
 * do nothing. Safe from any thread, even after the device has been closed.
 *
 * <p>A completion that is dropped without an end never signals. The operation stays among those {@linkplain DeviceQueue#inFlight in flight}
 * and keeps its signal fence, until the program whose call submitted it is closed or the device is lost.
 */
public interface HostCallCompletion {

    /**
     * Completes the call, which then signals: now, or once the code that began it has returned and its waits are resolved. Should one of them
     * have failed, or that code have thrown, its signals fail with that all the same.
     *
     * @return false when the call had ended already
     */
    boolean complete();

    /**
     * Fails the call, whose signals then fail: now, or once the code that began it has returned.
     *
     * @param cause the cause
     * @return false when the call had ended already
     */
    boolean fail(IreeException cause);

    /**
     * Returns whether the call has been completed or failed.
     *
     * @return also true when it failed otherwise: by a failed wait, an exception, cancellation or the loss of the device
     */
    boolean isComplete();
}
