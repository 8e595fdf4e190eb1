package io.github.iree4j.hal.schedule;

import io.github.iree4j.hal.HostCallCompletion;
import io.github.iree4j.status.IreeException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What the end of a deferred host call waits for beside its queue: the host. The operation ends when both are done with it.
 *
 * <pre>
 *   open ── ran ──► left to the host ──┐
 *     │                               decided ──► the operation ends
 *     └── decided ──────────────► ran ─┘
 * </pre>
 *
 * <p>SCHED-6: {@code ran} is set once, by the queue, and {@code decided} once, by the first that completes, fails or cancels the call, both
 * under the lock. The thread that sets the second of them ends the operation.
 */
final class CallCompletion implements HostCallCompletion {
    private final QueueScheduler scheduler;
    private @Nullable QueueOperation operation; // set before it is submitted
    private boolean ran; // guarded by this, like the next; the queue is done with the operation, which has not failed
    private boolean decided;
    private @Nullable IreeException cause; // of a call that was failed before it had run; published by `decided`

    CallCompletion(QueueScheduler scheduler) {
        this.scheduler = scheduler;
    }

    /** Makes this the completion of an operation, and returns that. */
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

    /** Decides how the call ends, and ends it if it has run; returns false when that was decided before. */
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

    /** The queue is done with the operation. Returns whether it is left to the host, which then ends it. */
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
