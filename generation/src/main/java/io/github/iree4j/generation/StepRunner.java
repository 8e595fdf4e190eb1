package io.github.iree4j.generation;

import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.List;

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

    /** Returns a runner that calls the functions of a program on a cache. */
    static StepRunner on(ModelInterface model, CacheMemory cache) {
        return (step, logits) -> {
            // On this thread, which computes a part of the kernels: waking another thread for each step takes longer.
            try (Results results = model.function(step.entry()).invoke(inputs(step, model.prefillPosition(), cache))) {
                logits.read(step, results);
            }
        };
    }

    /** Returns the inputs in the order of the function's arguments. */
    private static Object[] inputs(Step step, boolean prefillPosition, CacheMemory cache) {
        int batch = step.entry().batch();
        List<Object> inputs = new ArrayList<>();
        inputs.add(Tensor.of(step.tokens(), batch, step.tokensPerRow()));
        if (step.entry().prefill() && prefillPosition) {
            inputs.add(Tensor.of(step.starts(), batch));
        }
        inputs.add(Tensor.of(step.lengths(), batch));
        if (!step.entry().prefill()) {
            inputs.add(Tensor.of(step.starts(), batch));
        }
        inputs.add(Tensor.of(step.pages(), batch, step.columns()));
        inputs.addAll(cache.arguments());
        return inputs.toArray();
    }
}
