package io.github.iree4j.generation;

import io.github.iree4j.status.IreeException;
import java.util.function.Consumer;

/** Computes steps. */
@FunctionalInterface
interface StepRunner {
    /**
     * Computes a step, and waits for the end.
     *
     * @param logits receives the results
     * @throws IreeException the failure of the call
     */
    void run(Step step, Logits logits);

    /** Returns whether a decode function returns the next tokens as the next step takes tokens, so that steps may run ahead. */
    default boolean runsAhead(Entry entry) {
        return false;
    }

    /**
     * Computes a decode step and the steps for the next tokens, submitted before the first step ends: each takes its tokens
     * from the memory of the device. Returns after the last step.
     *
     * @param steps number of steps, at least 1
     * @param logits receives the results of one step after the other
     * @param each called after each step, in order
     * @throws IreeException the failure of a step; the later steps have failed, too, and {@code each} is not called for them
     */
    default void runAhead(Step step, int steps, Logits logits, Consumer<Step> each) {
        throw new UnsupportedOperationException("steps of " + step.entry() + " do not run ahead");
    }

    /** Returns a runner that calls the functions of a program on a cache. */
    static StepRunner on(ModelInterface model, CacheMemory cache) {
        return new ProgramRunner(model, cache);
    }
}
