package io.github.iree4j.spring.batching;

import io.github.iree4j.AlignedInputs;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.spring.InvocationRequest;
import io.github.iree4j.spring.context.CapturedContext;
import io.github.iree4j.status.CallWait;
import io.github.iree4j.status.WaitTime;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A call waiting for a batch. The caller receives the entry as the future of the call and may complete the entry to
 * abandon the call.
 */
final class BatchEntry extends IreeFuture<Results> {
    final InvocationRequest request;
    final List<Tensor> inputs;
    final int rows;
    /** Arrival time, by the timer. */
    final long since;
    /** Maximum wait for other calls; at most half of the call's deadline. */
    final long patience;

    /** For a function with variants: the alignment of the inputs to a common shape. */
    private final @Nullable AlignedInputs aligned;

    private final Runnable deadline;
    private final CapturedContext caller = CapturedContext.ofThisThread();

    BatchEntry(
            InvocationRequest request,
            List<Tensor> inputs,
            int rows,
            @Nullable AlignedInputs aligned,
            BatchTimer timer) {
        super(request.function().fullName());
        this.request = request;
        this.inputs = inputs;
        this.rows = rows;
        this.aligned = aligned;
        this.since = timer.nanoTime();
        long nanos = request.options()
                .deadline()
                .map(Deadline::left)
                .or(request.options()::timeout)
                .map(WaitTime::nanos)
                .orElse(WaitTime.FOREVER);
        this.patience = nanos == WaitTime.FOREVER ? nanos : nanos / 2;
        this.deadline = nanos == WaitTime.FOREVER ? () -> {} : timer.deadline(nanos, this::late);
        whenComplete((_, _) -> deadline.run());
    }

    private void late() {
        completeExceptionally(CallWait.late(
                request.function().fullName(), request.options().timeout().orElse(null), "its batch"));
    }

    /** Does work in the context of the entry's caller: this thread may belong to a timer, to another caller, or to a call whose end made room. */
    <T> T within(Supplier<T> work) {
        return caller.call(work);
    }

    /** Delivers the results, or closes them if the call was abandoned. */
    void deliver(Results results) {
        if (!complete(results)) {
            results.close();
        }
    }

    /** Delivers the entry's rows of a batch's results. */
    void deliverPart(Results rows) {
        if (aligned == null) {
            deliver(rows);
            return;
        }
        Results own;
        try {
            own = aligned.cut(rows);
        } catch (RuntimeException | Error e) { // also an exception of a listener
            fail(e);
            return;
        }
        deliver(own);
    }

    /** Completes the entry like {@link #completeExceptionally}, with the failure as an {@code IreeException}. */
    void fail(@Nullable Throwable cause) {
        completeExceptionally(IreeFuture.failureOf(cause));
    }
}
