package io.github.iree4j.async;

import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.status.WaitTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Waits for several fences at once: for all of them or for the first. A null fence is reached. In either case the first
 * failure ends the wait.
 *
 * <p>Fences are borrowed until the wait has begun: closing a fence afterwards does not affect the wait. Safe from any
 * thread; a waiting virtual thread occupies no carrier.
 */
public final class MultiWait {
    private MultiWait() {}

    /** Called once, for the first of several fences to be reached or fail. The rules of {@link Timepoint} apply. */
    @FunctionalInterface
    public interface First {
        /**
         * Called when a fence is reached or failed.
         *
         * @param index the fence's index
         * @param failure the cause of the failure, or null
         */
        void ended(int index, @Nullable IreeException failure);
    }

    /**
     * Blocks until all fences are reached.
     *
     * @param fences the fences; an empty list is reached
     * @param timeout the longest wait; zero only checks
     * @throws IreeException DEADLINE_EXCEEDED; the first failure; CANCELLED when interrupted (the thread stays interrupted)
     */
    public static void awaitAll(List<? extends @Nullable Fence> fences, Duration timeout) {
        awaitAll(fences, WaitTime.nanos(timeout));
    }

    static void awaitAll(List<? extends @Nullable Fence> fences, long timeoutNanos) {
        // Waiting for the fences in turn would miss the failure of a later fence.
        try (TimelineSemaphore done = TimelineSemaphore.create(0)) {
            Cancellation wait = whenAll(fences, failure -> end(done, failure));
            await(done, wait, timeoutNanos, fences);
        }
    }

    /**
     * Blocks until any of the fences is reached.
     *
     * @param fences the fences, at least one
     * @param timeout the longest wait; zero only checks
     * @return the index of a reached fence; the lowest when several are reached from the start
     * @throws IreeException DEADLINE_EXCEEDED; the first failure; CANCELLED when interrupted (the thread stays
     *     interrupted); INVALID_ARGUMENT without fences
     */
    public static int awaitAny(List<? extends @Nullable Fence> fences, Duration timeout) {
        AtomicInteger first = new AtomicInteger();
        try (TimelineSemaphore done = TimelineSemaphore.create(0)) {
            Cancellation wait = whenAny(fences, (index, failure) -> {
                first.set(index);
                end(done, failure);
            });
            await(done, wait, WaitTime.nanos(timeout), fences);
            return first.get();
        }
    }

    private static void end(TimelineSemaphore done, @Nullable IreeException failure) {
        if (failure != null) {
            done.fail(failure);
        } else {
            done.signal(1);
        }
    }

    private static void await(
            TimelineSemaphore done, Cancellation wait, long timeoutNanos, List<? extends @Nullable Fence> fences) {
        try {
            done.await(1, timeoutNanos);
        } catch (IreeException e) {
            if (e.code() == StatusCode.DEADLINE_EXCEEDED && done.failure() == null) {
                throw IreeException.of(
                        StatusCode.DEADLINE_EXCEEDED,
                        missing(fences) + " of " + fences.size() + " fences not reached within "
                                + DurationText.of(Duration.ofNanos(timeoutNanos)));
            }
            throw e;
        } finally {
            wait.cancel();
        }
    }

    private static int missing(List<? extends @Nullable Fence> fences) {
        int missing = 0;
        for (Fence fence : fences) {
            missing += fence == null || fence.isReached() ? 0 : 1;
        }
        return missing;
    }

    /**
     * Calls back once, when all fences are reached (with null) or when a first fence fails (with its failure): on this
     * thread if either has happened already, else on the causing thread. The rules of {@link Timepoint} apply.
     *
     * @param fences the fences; an empty list is reached
     * @param callback the callback
     * @return cancels the callback
     */
    public static Cancellation whenAll(
            List<? extends @Nullable Fence> fences, Consumer<? super @Nullable IreeException> callback) {
        int points = 0;
        for (Fence fence : fences) {
            if (fence != null) {
                fence.checkOpen();
                points += fence.size();
            }
        }
        if (points == 0) {
            Callbacks.call((value, failure) -> callback.accept(failure), 0);
            return Cancellation.OVER;
        }
        AllWait wait = new AllWait(callback, points);
        int first = 0;
        for (Fence fence : fences) {
            if (fence != null) {
                fence.register(wait, first);
                first += fence.size();
            }
        }
        return wait;
    }

    /**
     * Calls back once, for the first fence to be reached or fail: on this thread if either has happened already, else
     * on the causing thread. The rules of {@link Timepoint} apply.
     *
     * @param fences the fences, at least one
     * @param callback the callback
     * @return cancels the callback
     * @throws IreeException INVALID_ARGUMENT without fences
     */
    public static Cancellation whenAny(List<? extends @Nullable Fence> fences, First callback) {
        if (fences.isEmpty()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "waiting for the first of no fences would never end; pass at least one");
        }
        for (Fence fence : fences) {
            if (fence != null) {
                fence.checkOpen();
            }
        }
        AnyWait wait = new AnyWait(callback, fences.size());
        for (int i = 0; i < fences.size() && !wait.isComplete(); i++) {
            Fence fence = fences.get(i);
            int index = i;
            if (fence == null) {
                Callbacks.call((value, failure) -> wait.ended(index, failure), 0);
            } else {
                wait.add(index, fence.whenReached(failure -> wait.ended(index, failure)));
            }
        }
        return wait;
    }
}
