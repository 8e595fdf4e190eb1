package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.Nullable;

/**
 * The marks that a requester's hardware can wait for without the host. Called with the lock of the set held: must be quick and take
 * innermost locks only.
 */
@FunctionalInterface
@NotForApplications
public interface NativeTimepoints {
    /** No marks: for requesters without waiting hardware. */
    NativeTimepoints NONE = (axis, epoch) -> null;

    /**
     * Finds the earliest mark that implies an epoch.
     *
     * @param axis the axis of another queue
     * @param epoch the epoch of the work that must have finished
     * @return the mark at the smallest epoch at or above; null when there is no mark to wait for
     */
    @Nullable
    NativeTimepoint atOrAbove(long axis, long epoch);
}
