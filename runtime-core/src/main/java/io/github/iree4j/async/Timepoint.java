package io.github.iree4j.async;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/**
 * A callback called once when a timeline reaches a value, or fails.
 *
 * <p>Runs on the thread that signalled or failed the timeline (on the registering thread if there was nothing to wait
 * for), with no runtime lock held; a {@link CrowdTimepoint} may run elsewhere. Callbacks becoming due inside another
 * callback run afterwards on the same thread, so chains of any length do not grow the stack. An implementation:
 *
 * <ul>
 *   <li>MUST return quickly and MUST NOT block, park or wait on a timeline;
 *   <li>MUST NOT throw: an exception is logged and otherwise ignored;
 *   <li>MAY signal or fail any timeline, register timepoints, and submit to any queue.
 * </ul>
 *
 * <p>If {@link Cancellation#cancel()} returned true, the timepoint is never called; if the method returned false, the
 * timepoint has been, or is being, called.
 */
@FunctionalInterface
@NotForApplications
public interface Timepoint {

    /**
     * Called when the timeline is at or beyond the awaited value, or failed.
     *
     * @param value the timeline's value at this moment; at least the awaited value unless the timeline failed
     * @param failure the reason why the value will not be reached, or null
     */
    void reached(long value, @Nullable IreeException failure);
}
