package io.github.iree4j.hal;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.status.IreeException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The completion of a {@linkplain DeferredHostCall deferred host call}. The first attempt to end it decides; later ones do nothing. Safe
 * from any thread, even after the device has been closed. A completion that is dropped without an end never signals.
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
     * Submits the call as an ordinary host call whose signal says that it has begun. A failure of that operation (a failed wait, an
     * exception, a closed queue) fails the completion.
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
     * Completes the call and signals its signals.
     *
     * @return false when it had ended already
     */
    public boolean complete() {
        return end(null);
    }

    /**
     * Fails the call and its signals.
     *
     * @param cause the cause
     * @return false when it had ended already
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
     * Returns whether the call has ended.
     *
     * @return also true when the call failed before it began
     */
    public boolean isComplete() {
        return over.get();
    }
}
