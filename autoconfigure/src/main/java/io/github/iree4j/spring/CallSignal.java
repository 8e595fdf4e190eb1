package io.github.iree4j.spring;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.status.IreeException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Fails the fence that a call was to signal where the call has failed before a program made the call, so that nobody
 * would signal. A point that is reached, or promised by submitted work, stays. A call made by a program fails the fence
 * itself. A cancelled call fails the fence at once, possibly while a function still runs.
 */
final class CallSignal {
    private CallSignal() {}

    /** Fails the fence with the failure of a call, now or later. */
    static void failWith(CompletableFuture<?> call, @Nullable Fence signal) {
        if (signal == null) {
            return;
        }
        boolean isLater = !call.isDone();
        if (isLater) {
            signal.retain(); // the caller may close the fence
        }
        call.whenComplete((_, failure) -> {
            if (failure != null) {
                fail(signal, IreeFuture.failureOf(failure));
            }
            if (isLater) {
                signal.release();
            }
        });
    }

    /** Fails the fence of a call that was not made. */
    static void fail(@Nullable Fence signal, IreeException failure) {
        if (signal == null) {
            return;
        }
        for (int i = 0; i < signal.size(); i++) {
            try {
                signal.semaphore(i).addSignaller(signal.value(i));
            } catch (IreeException refused) { // reached, promised or closed
                continue;
            }
            signal.semaphore(i).fail(failure);
        }
    }
}
