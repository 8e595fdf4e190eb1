package io.github.iree4j.hal.pool;

import org.jspecify.annotations.Nullable;

/** What the hardware of whoever asks for memory can wait for without the host. Called with the lock of the set held: quick, no locks of its own but innermost ones. */
@FunctionalInterface
public interface NativeTimepoints {
    /** Of somebody that has no hardware to wait. */
    NativeTimepoints NONE = (axis, epoch) -> null;

    /**
     * Finds the earliest mark that implies an epoch.
     *
     * @param axis the axis of another queue
     * @param epoch what must be over
     * @return the mark at the smallest epoch at or above; null when there is none that can be waited for
     */
    @Nullable
    NativeTimepoint atOrAbove(long axis, long epoch);
}
