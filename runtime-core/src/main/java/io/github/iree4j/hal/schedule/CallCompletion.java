package io.github.iree4j.hal.schedule;

import io.github.iree4j.hal.HostCallCompletion;
import io.github.iree4j.status.IreeException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The host's part in the end of a deferred host call. The operation ends when both the queue and the host have finished
 * the call.
 *
 * <pre>
 *   open ── ran ──► left to the host ──┐
 *     │                               decided ──► the operation ends
 *     └── decided ──────────────► ran ─┘
 * </pre>
 *
 * <p>SCHED-6: {@code ran} is set once, by the queue, and {@code decided} once, by the first to complete, fail or cancel
 * the call, both under the lock. The thread that sets the second flag ends the operation.
 */
final class CallCompletion implements HostCallCompletion {
    private final QueueScheduler scheduler;
    private @Nullable QueueOperation operation; // set before the operation is submitted
    private boolean ran; // guarded by this, like decided; the queue has finished the operation without a failure
    private boolean decided;
    private @Nullable IreeException cause; // cause of a failure before the call had run; published by `decided`

    CallCompletion(QueueScheduler scheduler) {
        this.scheduler = scheduler;
    }

    /** Makes this the completion of an operation, and returns the operation. */
    QueueOperation of(QueueOperation call) {
        operation = call;
        call.completion = this;
        return call;
    }

    @Override
    public boolean complete() {
        return end(null);
    }

    @Override
    public boolean fail(IreeException failure) {
        return end(Objects.requireNonNull(failure, "failure"));
    }

    /** Decides the outcome of the call, and ends the call if already run; returns false when already decided. */
    boolean end(@Nullable IreeException failure) {
        synchronized (this) {
            if (decided) {
                return false;
            }
            decided = true;
            if (!ran) {
                cause = failure;
                return true;
            }
        }
        scheduler.completedByHost(Objects.requireNonNull(operation), failure);
        return true;
    }

    /** Records that the queue has finished the operation. Returns whether the operation is left to the host; the host then ends the operation. */
    synchronized boolean ran(QueueOperation call) {
        IreeException failure = decided ? cause : null;
        if (failure != null) {
            call.fail(failure);
        }
        ran = !decided && call.failure() == null;
        decided = !ran;
        return ran;
    }

    @Override
    public synchronized boolean isComplete() {
        return decided;
    }
}
