package io.github.iree4j.async;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/**
 * Signals one timeline when another reaches a value. Holds a reference to the target until it has signalled or failed it, or is cancelled.
 *
 * <p>LINK-1: the target is signalled, failed, or released by cancelling, exactly once: the source calls or cancels a waiter once (SEM-2).
 */
final class SemaphoreLink implements Timepoint, Cancellation {
    private final TimelineSemaphore source;
    private final long minimum;
    private final TimelineSemaphore target;
    private final long next;
    private Cancellation wait = Cancellation.OVER; // set before this is published

    private SemaphoreLink(TimelineSemaphore source, long minimum, TimelineSemaphore target, long next) {
        this.source = source;
        this.minimum = minimum;
        this.target = target;
        this.next = next;
    }

    static Cancellation create(TimelineSemaphore source, long minimum, TimelineSemaphore target, long next) {
        target.retain();
        SemaphoreLink link = new SemaphoreLink(source, minimum, target, next);
        link.wait = source.whenReached(minimum, link);
        return link;
    }

    @Override
    public void reached(long value, @Nullable IreeException failure) {
        try {
            if (failure == null) {
                // The value is reached, so there is a record of it.
                Frontier frontier = source.frontierAt(minimum);
                target.signal(next, frontier == null ? Frontier.UNKNOWN : frontier);
            } else {
                target.fail(failure);
            }
        } catch (IreeException e) {
            target.fail(e.during("link from a semaphore at " + value));
        } finally {
            target.release();
        }
    }

    @Override
    public boolean cancel() {
        boolean cancelled = wait.cancel();
        if (cancelled) {
            target.release();
        }
        return cancelled;
    }
}
