package io.github.iree4j.generation;

import io.github.iree4j.CallOptions;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.Submission;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Fence;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/** Computes steps by the functions of a program, on a cache. */
final class ProgramRunner implements StepRunner {
    private final ModelInterface model;
    private final CacheMemory cache;

    ProgramRunner(ModelInterface model, CacheMemory cache) {
        this.model = model;
        this.cache = cache;
    }

    @Override
    public void run(Step step, Logits logits) {
        Tensor tokens = Tensor.of(step.tokens(), step.entry().batch(), step.tokensPerRow());
        // On this thread, which computes a part of the kernels: waking another thread for each step takes longer.
        try (Results results = model.function(step.entry()).invoke(inputs(step, tokens))) {
            logits.read(step, results);
        }
    }

    @Override
    public boolean runsAhead(Entry entry) {
        return model.ahead().containsKey(entry);
    }

    @Override
    public void runAll(Step step, Logits logits, Consumer<Step> each) {
        if (step.steps() == 1) {
            StepRunner.super.runAll(step, logits, each);
            return;
        }
        ProgramFunction function = Objects.requireNonNull(model.ahead().get(step.entry()));
        int batch = step.entry().batch();
        List<Step> steps = new ArrayList<>(List.of(step));
        List<Fence> fences = new ArrayList<>();
        List<Results> results = new ArrayList<>();
        CallOptions options = CallOptions.DEFAULTS;
        Tensor tokens = Tensor.of(step.tokens(), batch, 1);
        try {
            while (true) {
                Submission<Results> submission = function.submit(options, inputs(steps.getLast(), tokens));
                fences.add(submission.fence());
                results.add(submission.results().await()); // known, without contents
                tokens.close();
                if (steps.size() == step.steps()) {
                    break;
                }
                steps.add(steps.getLast().next());
                tokens = results.getLast().tensor(1).reshape(batch, 1);
                options = CallOptions.DEFAULTS.after(submission.fence());
            }
            for (int i = 0; i < steps.size(); i++) {
                fences.get(i).await();
                logits.read(steps.get(i), results.get(i));
                each.accept(steps.get(i));
            }
        } finally {
            tokens.close();
            end(fences);
            results.forEach(Results::close);
        }
    }

    /** Waits until no step runs. A failure is known from the first step that failed. */
    private static void end(List<Fence> fences) {
        for (Fence each : fences) {
            try {
                each.await();
            } catch (IreeException _) {
                // The steps after a failed step do not run.
            }
        }
    }

    /** Returns the inputs in the order of the function's arguments. */
    Object[] inputs(Step step, Tensor tokens) {
        int batch = step.entry().batch();
        List<Object> inputs = new ArrayList<>();
        inputs.add(tokens);
        if (step.entry().prefill() && model.prefillPosition()) {
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
