package io.github.iree4j.spring.batching;

import io.github.iree4j.AlignedInputs;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.spring.InvocationRequest;
import io.github.iree4j.spring.context.CapturedContext;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One call that waits for its batch. Its caller receives it as the future of the call and may complete it to abandon
 * the call.
 */
final class BatchEntry extends CompletableFuture<Results> {
    final InvocationRequest request;
    final List<Tensor> inputs;
    final int rows;
    /** Arrival time, by the timer. */
    final long since;
    /** How long it may wait for others; at most half of its deadline. */
    final long patience;

    /** For a function with variants: the alignment of its inputs to a common shape. */
    private final @Nullable AlignedInputs aligned;

    private final Runnable deadline;
    private final CapturedContext caller = CapturedContext.ofThisThread();

    BatchEntry(
            InvocationRequest request,
            List<Tensor> inputs,
            int rows,
            @Nullable AlignedInputs aligned,
            BatchTimer timer) {
        this.request = request;
        this.inputs = inputs;
        this.rows = rows;
        this.aligned = aligned;
        this.since = timer.nanoTime();
        Duration timeout = request.options().timeout();
        long nanos = timeout == null ? Long.MAX_VALUE : nanos(timeout);
        this.patience = nanos == Long.MAX_VALUE ? nanos : nanos / 2;
        this.deadline = nanos == Long.MAX_VALUE ? () -> {} : timer.deadline(nanos, this::late);
        whenComplete((_, _) -> deadline.run());
    }

    private static long nanos(Duration duration) {
        try {
            return duration.toNanos();
        } catch (ArithmeticException e) {
            return Long.MAX_VALUE;
        }
    }

    private void late() {
        completeExceptionally(new IreeException(
                StatusCode.DEADLINE_EXCEEDED,
                "call of '%s' took longer than %s"
                        .formatted(
                                request.function().fullName(), request.options().timeout())));
    }

    /** Does work in the context of its caller: this thread may be of a timer, of another caller, or of a call whose end made room. */
    <T> T within(Supplier<T> work) {
        return caller.call(work);
    }

    /** Delivers the results, or closes them if the call was abandoned. */
    void deliver(Results results) {
        if (!complete(results)) {
            results.close();
        }
    }

    /** Delivers its rows of a batch's results. */
    void deliverPart(Results rows) {
        if (aligned == null) {
            deliver(rows);
            return;
        }
        Results own;
        try {
            own = aligned.cut(rows);
        } catch (RuntimeException | Error e) { // also of a listener
            fail(e);
            return;
        }
        deliver(own);
    }

    /** As {@link #completeExceptionally}, with the failure as an {@code IreeException}. */
    void fail(@Nullable Throwable cause) {
        completeExceptionally(DynamicBatching.failure(cause));
    }
}
