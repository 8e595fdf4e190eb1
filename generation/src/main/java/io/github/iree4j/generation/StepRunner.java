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
     * Computes a step, and the steps ahead that the step asks for: the steps for the next tokens, submitted before the first
     * step ends, each of which takes its tokens from the memory of the device. Returns after the last step.
     *
     * @param step with {@link Step#steps} of 1 unless the function {@linkplain #runsAhead runs ahead}
     * @param logits receives the results of one step after the other
     * @param each called after each step, in order
     * @throws IreeException the failure of a step; the later steps have failed, too, and {@code each} is not called for them
     */
    default void runAll(Step step, Logits logits, Consumer<Step> each) {
        run(step, logits);
        each.accept(step);
    }

    /** Returns a runner that calls the functions of a program on a cache. */
    static StepRunner on(ModelInterface model, CacheMemory cache) {
        return new ProgramRunner(model, cache);
    }
}
