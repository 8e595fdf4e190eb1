package io.github.iree4j.spring.batching;

/** Hears of each batch that is called, to count them. */
@FunctionalInterface
public interface BatchListener {

    /** Hears of nothing. */
    BatchListener NONE = (model, function, calls, rows, paddedRows, waitNanos) -> {};

    /**
     * A batch is about to be called. Must not block or throw.
     *
     * @param model the name of the program
     * @param function the name of the function
     * @param calls how many callers are in it
     * @param rows how many rows they have
     * @param paddedRows how many rows the call has
     * @param waitNanos how long the first of them waited
     */
    void batched(String model, String function, int calls, int rows, int paddedRows, long waitNanos);
}
