package io.github.iree4j.hal;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.status.IreeException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The end of a {@linkplain DeferredHostCall deferred host call}. Whoever ends it first decides; later attempts do nothing. Safe from any thread, also when the
 * device has been closed meanwhile. What comes to be forgotten without an end leaves its signals as they are.
 */
public final class HostCallCompletion {
    private final @Nullable Fence signal;
    private final AtomicBoolean over = new AtomicBoolean();

    private HostCallCompletion(@Nullable Fence signal) {
        this.signal = signal;
        if (signal != null) {
            signal.retain();
        }
    }

    /**
     * The call is an operation of its own, whose signal says that it has begun. Its failure is that of the whole: a wait that failed, a throw, a queue that was
     * closed before.
     */
    static void submit(DeviceQueue queue, @Nullable Fence wait, @Nullable Fence signal, DeferredHostCall call) {
        Objects.requireNonNull(call, "call");
        HostCallCompletion completion = new HostCallCompletion(signal);
        try (Fence begun = Fence.adopt(TimelineSemaphore.create(0), 1)) {
            begun.whenReached(failure -> {
                if (failure != null) {
                    completion.fail(failure);
                }
            });
            queue.hostCall(wait, begun, () -> call.begin(completion), 0);
        }
    }

    /**
     * Says that what was begun is done: the signals are signalled.
     *
     * @return false when it was over already
     */
    public boolean complete() {
        return end(null);
    }

    /**
     * Says that what was begun has failed: so do the signals.
     *
     * @param cause why
     * @return false when it was over already
     */
    public boolean fail(IreeException cause) {
        return end(Objects.requireNonNull(cause, "cause"));
    }

    private boolean end(@Nullable IreeException cause) {
        if (!over.compareAndSet(false, true)) {
            return false;
        }
        Fence signalled = signal;
        if (signalled != null) {
            if (cause == null) {
                signalled.signalOrFail();
            } else {
                signalled.fail(cause);
            }
            signalled.release();
        }
        return true;
    }

    /**
     * Returns whether somebody has ended it.
     *
     * @return also true when the call failed before it began
     */
    public boolean isOver() {
        return over.get();
    }
}
