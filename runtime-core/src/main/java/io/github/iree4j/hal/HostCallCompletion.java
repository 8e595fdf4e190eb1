package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;

/**
 * The completion of a {@linkplain DeferredHostCall deferred host call}, made by the queue. The first attempt to end the
 * call decides; later attempts do nothing. Safe from any thread, even after the device has been closed.
 *
 * <p>A completion dropped without an end never signals. The operation stays {@linkplain DeviceQueue#inFlight in flight}
 * and keeps its signal fence, until the device is lost or the submitting call's program is closed.
 */
@NotForApplications
public interface HostCallCompletion {

    /**
     * Completes the call and signals: now, or once {@code begin} has returned and the waits of the call are resolved.
     * If a wait has failed or {@code begin} has thrown, the signals fail with that cause instead.
     *
     * @return false when the call had ended already
     */
    boolean complete();

    /**
     * Fails the call and its signals: now, or once {@code begin} has returned.
     *
     * @param cause the cause
     * @return false when the call had ended already
     */
    boolean fail(IreeException cause);

    /**
     * Returns whether the call has been completed or failed.
     *
     * @return also true after another failure: a failed wait, an exception, cancellation or the loss of the device
     */
    boolean isComplete();
}
