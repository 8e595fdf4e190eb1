package io.github.iree4j.hal.pool;

import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Notifies a set when the last user of a free block has finished. At most one wait per block, registered under the lock of the set. */
final class DeathWatch {
    private static final Logger LOG = LoggerFactory.getLogger(DeathWatch.class);

    private final FrontierTracker tracker;
    private final DeathFrontiers deaths;
    private final Runnable completed;

    /** Creates a watch that calls {@code completed}, without the lock, when such a user has finished. */
    DeathWatch(FrontierTracker tracker, DeathFrontiers deaths, Runnable completed) {
        this.tracker = tracker;
        this.deaths = deaths;
        this.completed = completed;
    }

    void watch(Block block) {
        Frontier death = block.death;
        if (death == null || deaths.isCompleted(death)) {
            return;
        }
        Frontier awaited = deaths.toWaitFor(death);
        if (Objects.equals(awaited, block.watched)) {
            return;
        }
        block.watched = awaited;
        try {
            // On a failed axis too: the work of the axis may still use the block, but not for ever.
            tracker.whenOver(awaited, failure -> {
                if (failure == null) {
                    completed.run();
                }
            });
        } catch (IreeException e) {
            LOG.warn("memory that was freed with {} cannot be used again: {}", death, e.getMessage());
        }
    }
}
