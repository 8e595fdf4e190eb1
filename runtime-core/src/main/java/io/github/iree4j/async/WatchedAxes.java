package io.github.iree4j.async;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The axes with waiters: few of the many existing axes. Guarded by the tracker's lock. */
final class WatchedAxes {
    private @Nullable TrackedAxis first;

    void add(TrackedAxis axis) {
        axis.followingWatched = first;
        if (first != null) {
            first.precedingWatched = axis;
        }
        first = axis;
    }

    void remove(TrackedAxis axis) {
        TrackedAxis before = axis.precedingWatched;
        TrackedAxis after = axis.followingWatched;
        if (before == null) {
            first = after;
        } else {
            before.followingWatched = after;
        }
        if (after != null) {
            after.precedingWatched = before;
        }
        axis.precedingWatched = null;
        axis.followingWatched = null;
    }

    /** Visits all; the visitor may unlink waiters of the visited axis. */
    void forEach(Consumer<TrackedAxis> visitor) {
        for (TrackedAxis axis = first; axis != null; ) {
            TrackedAxis following = axis.followingWatched;
            visitor.accept(axis);
            axis = following;
        }
    }
}
