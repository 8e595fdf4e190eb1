package io.github.iree4j;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.function.Function;

/**
 * A submitted call with a new fence, so that the next call is submitted before the work of this call begins.
 *
 * <pre>{@code
 * Submission<Results> encoded = encoder.submit(DEFAULTS, text);
 * try (Results states = encoded.results().await()) {           // known, without contents
 *     return decoder.call(DEFAULTS.after(encoded.fence()), states.tensor(0)).await();
 * }
 * }</pre>
 *
 * <p>The fence needs no closing, and belongs to this call alone: a failure of the call fails no other call than those
 * after the fence. Thread-safe.
 *
 * @param <T> the type of the results
 */
public final class Submission<T> {
    private final IreeFuture<T> results;
    private final Fence fence;

    private Submission(IreeFuture<T> results, Fence fence) {
        this.results = results;
        this.fence = fence;
    }

    /** Names the timeline of a call, only when somebody asks. */
    private record Name(String function) {
        @Override
        public String toString() {
            return "call of '" + function + "'";
        }
    }

    /**
     * Submits a call with a new fence.
     *
     * @param function the full name of the function, for diagnostics
     * @param options the options of the call, without a fence to signal
     * @param call makes the call with the options, completed by the fence to signal
     * @return the call; a failed future has failed the fence
     * @param <T> the type of the results
     * @throws IreeException INVALID_ARGUMENT when the options have a fence to signal; otherwise as {@code call} throws,
     *     and the fence has failed
     */
    @NotForApplications
    public static <T> Submission<T> of(
            String function, CallOptions options, Function<CallOptions, IreeFuture<T>> call) {
        if (options.signal().isPresent()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "submission of '%s' signals a new fence, and cannot signal another fence; use a call"
                            .formatted(function));
        }
        TimelineSemaphore timeline = TimelineSemaphore.create(0);
        timeline.setName(new Name(function));
        Fence fence = Fence.adopt(timeline, 1);
        IreeFuture<T> results;
        try {
            results = call.apply(options.signal(fence));
        } catch (RuntimeException | Error e) { // others may wait for the fence given to the call
            fence.fail(IreeFuture.failureOf(e));
            throw e;
        }
        results.whenComplete((_, failure) -> {
            if (failure != null) {
                fence.fail(IreeFuture.failureOf(failure));
            }
        });
        return new Submission<>(results, fence);
    }

    /** Returns this submission with converted results, and the same fence. */
    <U> Submission<U> with(IreeFuture<U> converted) {
        return new Submission<>(converted, fence);
    }

    /**
     * Returns the fence of this call, for {@link CallOptions#after} of the next calls.
     *
     * @return always the same fence; reached when the contents of the results are ready; failed by a failure of the
     *     call or of its future, cancellation and lateness included, perhaps shortly before the future completes. A failed {@linkplain ResultType#read(Submission)
     *     conversion} fails the future only: the fence tells that the work is complete, also to calls that need nothing
     *     but the effects of this call
     */
    public Fence fence() {
        return fence;
    }

    /**
     * Returns the future of the results. Results are inputs of calls after the {@link #fence} at once; contents can be
     * read once the fence is reached. A continuation of the future must not wait for the fence: the thread that runs the
     * continuation may be the thread that signals; use {@link Fence#whenReached}. Completing the future from outside cancels
     * the call.
     *
     * @return completes as described at {@link ProgramFunction#call} for a call with a fence to signal; the results
     *     belong to the receiver, who closes the results
     */
    public IreeFuture<T> results() {
        return results;
    }

    /**
     * Waits for the results and their contents. A waiting virtual thread occupies no carrier.
     *
     * @return the results, to be closed by the caller
     * @throws IreeException the failure of the call, whose results are then closed; CANCELLED when the thread was
     *     interrupted (the thread stays interrupted)
     */
    public T await() {
        T value = results.await();
        try {
            fence.await();
        } catch (RuntimeException | Error e) {
            ResultType.drop(value);
            throw e;
        }
        return value;
    }

    @Override
    public String toString() {
        return "%s, %s".formatted(fence.semaphore(0).name(), fence.query());
    }
}
