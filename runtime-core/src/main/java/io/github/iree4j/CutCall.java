package io.github.iree4j;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** What the caller of a padded call gets, who may complete it to give the call up: its results, once they are cut. */
final class CutCall extends CompletableFuture<Results> {
    CutCall(CompletableFuture<Results> call, VariantFunction function, long[] sizes, long[] padded) {
        whenComplete((_, failure) -> {
            if (failure != null) {
                call.completeExceptionally(failure); // has no effect on one that is over
            }
        });
        // Runs where anything may be done, as all that is attached to a call.
        call.whenComplete((results, failure) -> {
            if (failure != null) {
                completeExceptionally(unwrapped(failure));
            } else {
                end(results, function, sizes, padded);
            }
        });
    }

    private void end(Results results, VariantFunction function, long[] sizes, long[] padded) {
        Results cut;
        try {
            cut = function.cut(results, sizes, padded);
        } catch (RuntimeException | Error e) {
            completeExceptionally(e);
            return;
        }
        if (!complete(cut)) {
            cut.close(); // the caller gave up while it arrived
        }
    }

    private static Throwable unwrapped(Throwable failure) {
        Throwable cause = failure.getCause();
        return failure instanceof CompletionException && cause != null ? cause : failure;
    }

    /** What is attached to it is no call. */
    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}
