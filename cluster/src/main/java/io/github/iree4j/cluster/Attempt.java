package io.github.iree4j.cluster;

import io.github.iree4j.status.IreeException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** An attempt to connect to a peer, again and again with longer pauses. Not thread-safe. */
final class Attempt {
    private static final long FIRST_PAUSE_NANOS = 200_000_000;
    private static final long LONGEST_PAUSE_NANOS = 5_000_000_000L;

    private boolean dialing;
    private long pauseNanos;
    private long notBefore;

    /** The cause of the last failed attempt; null without a failure. */
    @Nullable
    IreeException failure;

    /** Begins an attempt, unless an attempt is under way or during a pause. Returns whether an attempt has begun now. */
    boolean begin(long now) {
        if (dialing || pauseNanos > 0 && notBefore - now > 0) {
            return false;
        }
        dialing = true;
        return true;
    }

    /** Ends a failed attempt. Returns whether the failure differs from the previous failure. */
    boolean end(IreeException cause, long now) {
        IreeException before = failure;
        dialing = false;
        failure = cause;
        pauseNanos = pauseNanos == 0 ? FIRST_PAUSE_NANOS : Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
        notBefore = now + pauseNanos;
        return before == null || !Objects.equals(before.getMessage(), cause.getMessage());
    }
}
