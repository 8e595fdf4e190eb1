package io.github.iree4j.generation;

import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/**
 * The time of a generator's step outside of the function. The call of each decode step is made twice, which writes the
 * same bits: by the generator, and bare, with prepared inputs and unread results. Either is first in every other step,
 * since readers wake up during the first. The rest is the time from the end of a call to the begin of the next.
 */
final class StepCost implements StepRunner {
    private final BareLoop loop;
    private final ProgramRunner runner;
    private final Entry entry;
    private final List<List<Long>> more = List.of(new ArrayList<>(), new ArrayList<>()); // bare last, bare first
    private final List<Long> between = new ArrayList<>();
    private final List<Long> bare = new ArrayList<>();
    private boolean warm;
    private long ended; // of a decode step; 0 if the step before was another

    private StepCost(BareLoop loop, Entry entry) {
        this.loop = loop;
        this.entry = entry;
        this.runner = new ProgramRunner(loop.model(), loop.cache());
    }

    /**
     * Generates for some seconds, after as many of warm-up, and prints the cost.
     *
     * @param reading whether a reader receives each token; otherwise the end of an answer only
     */
    static void print(
            BareLoop loop, Entry entry, int tokens, boolean reading, Supplier<int[][]> prompts, double seconds)
            throws InterruptedException {
        StepCost cost = new StepCost(loop, entry);
        ModelInterface model = loop.model();
        StepPlanner planner = new StepPlanner(
                model.prefillPosition(),
                loop.shapes(),
                new Measured(model.prefills(), model.decodes(), true, true, true, true),
                loop.config().pages(),
                new Admission(),
                new Speculation(0),
                new PromptLookup(),
                1,
                0,
                loop.cache());
        try (GenerationLoop steps = new GenerationLoop(
                model.name(),
                planner,
                cost,
                loop.cache()::scrub,
                GeneratorOptions.DEFAULTS.maximumWaiting(),
                Integer.MAX_VALUE,
                System::nanoTime,
                () -> {})) {
            for (int turn = 0; turn < 2; turn++) {
                cost.warm = turn > 0;
                long start = System.nanoTime();
                do {
                    if (reading) {
                        TokenTimes.Readers.start(steps::submit, tokens, prompts.get())
                                .await();
                    } else {
                        Arrays.stream(prompts.get())
                                .map(each -> steps.submit(GenerationRequest.of(tokens, each)))
                                .toList()
                                .forEach(each -> each.result().await());
                    }
                } while (System.nanoTime() - start < seconds * 1e9);
            }
        }
        double inside = (TokenTimes.quantile(cost.more.get(0), 0.5) + TokenTimes.quantile(cost.more.get(1), 0.5)) / 2;
        double outside = TokenTimes.quantile(cost.between, 0.5);
        System.out.printf(
                "%s, %s: bare call %.0f us; a generator's step %.1f us more: %.1f us for inputs and logits, %.1f us between calls (p99 %.1f us); medians of %d steps%n",
                entry.name(),
                reading ? "with readers" : "without readers",
                TokenTimes.quantile(cost.bare, 0.5) / 1e3,
                (inside + outside) / 1e3,
                inside / 1e3,
                outside / 1e3,
                TokenTimes.quantile(cost.between, 0.99) / 1e3,
                cost.between.size());
    }

    @Override
    public void run(Step step, Logits logits) {
        long began = System.nanoTime();
        if (!step.entry().equals(entry)) {
            runner.run(step, logits);
            ended = 0;
            return;
        }
        if (warm && ended != 0) {
            between.add(began - ended);
        }
        int order = bare.size() & 1;
        long call = order == 1 ? bare(step) : 0;
        long start = System.nanoTime();
        runner.run(step, logits);
        long nanos = System.nanoTime() - start;
        call += order == 0 ? bare(step) : 0;
        if (warm) {
            bare.add(call);
            more.get(order).add(nanos - call);
        }
        ended = System.nanoTime();
    }

    private long bare(Step step) {
        ProgramFunction function = loop.model().functions().get(step.entry());
        Tensor tokens = Tensor.of(step.tokens(), step.entry().batch(), 1);
        Object[] inputs = runner.inputs(step, tokens);
        long start = System.nanoTime();
        try (Results _ = function.invoke(inputs)) {
            return System.nanoTime() - start;
        }
    }
}
