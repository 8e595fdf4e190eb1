package io.github.iree4j;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What the caller of a call gets, who may complete it to give the call up. Either that or the call's own outcome counts, and which is settled
 * before it completes: so the results that nobody will receive are freed before the program may be.
 */
final class CallFuture extends CompletableFuture<Results> {
    private final AtomicBoolean settled = new AtomicBoolean();

    /**
     * Settles that the call's outcome counts, with which it is to be completed soon.
     *
     * @return false when somebody has given the call up
     */
    boolean claim() {
        return settled.compareAndSet(false, true);
    }

    /** After a claim; true when the results are the receiver's now. */
    boolean deliver(Results results) {
        return super.complete(results);
    }

    /** The call has failed, unless it was given up before. */
    void failed(Throwable cause) {
        if (claim()) {
            super.completeExceptionally(cause);
        }
    }

    // From outside.

    @Override
    public boolean complete(Results value) {
        return claim() && super.complete(value);
    }

    @Override
    public boolean completeExceptionally(Throwable cause) {
        return claim() && super.completeExceptionally(cause);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        return claim() ? super.cancel(mayInterruptIfRunning) : isCancelled();
    }
}
