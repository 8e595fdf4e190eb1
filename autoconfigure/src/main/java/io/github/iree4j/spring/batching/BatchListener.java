package io.github.iree4j.spring.batching;

import io.github.iree4j.api.NotForApplications;

/** Listener notified of each batch, for metrics. */
@FunctionalInterface
@NotForApplications
public interface BatchListener {

    /** Does nothing. */
    BatchListener NONE = (model, function, calls, rows, paddedRows, waitNanos) -> {};

    /**
     * Called before a batch is invoked. Must not block or throw.
     *
     * @param model the name of the program
     * @param function the name of the function
     * @param calls number of calls in the batch
     * @param rows number of rows of these calls
     * @param paddedRows number of rows after padding
     * @param waitNanos waiting time of the first call
     */
    void batched(String model, String function, int calls, int rows, int paddedRows, long waitNanos);
}
