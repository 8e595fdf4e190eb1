package io.github.iree4j.generation;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.generation.sampling.Sampler;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The peer of a generator: a plain loop over the functions of a program, with greedy decoding. A prompt is read in a
 * single call. Pages are given to rows in order, and never given back.
 */
final class BareLoop implements AutoCloseable {
    private final Program program;
    private final GeneratorOptions options;
    private final ModelConfig config;
    private final ModelInterface model;
    private final CacheMemory cache;
    private final StepShapes shapes;
    private final StepRunner runner;
    private final Logits logits = new Logits();
    private final Sampler greedy = GenerationRequest.of(1, 0).sampler();

    private BareLoop(Program program, Path config) {
        this.program = program;
        this.options = GeneratorOptions.builder().config(config).build();
        this.config = ModelConfig.of(options.configName(), options.config());
        this.model = ModelInterface.of(program, this.config);
        this.shapes = StepShapes.of(this.config, options.chunkTokens());
        this.cache = new CacheMemory(model, this.config.pages(), 0);
        this.runner = StepRunner.on(model, cache);
    }

    /** Loads a program with an archive of scope {@code model}, and allocates a cache. */
    static BareLoop open(IreeRuntime runtime, String module, String parameters, String config) {
        Program program = load(runtime, module, parameters);
        try {
            return new BareLoop(program, Path.of(config));
        } catch (RuntimeException | Error e) {
            program.close();
            throw e;
        }
    }

    static Program load(IreeRuntime runtime, String module, String parameters) {
        return runtime.load(ProgramOptions.builder()
                .module(Path.of(module))
                .parameters("model", Path.of(parameters))
                .build());
    }

    /** Returns the options of a generator for the same program. */
    GeneratorOptions.Builder options() {
        return options.toBuilder();
    }

    Program program() {
        return program;
    }

    ModelInterface model() {
        return model;
    }

    ModelConfig config() {
        return config;
    }

    CacheMemory cache() {
        return cache;
    }

    StepShapes shapes() {
        return shapes;
    }

    /** Returns the pages that rows of a length leave free, as the first of them. */
    int pageBehind(int rows, int length) {
        return 1 + rows * shapes.pagesFor(length);
    }

    /** Returns random tokens. */
    int[] randomTokens(SplittableRandom random, int count) {
        return random.ints(count, 0, model.vocabulary() > 0 ? model.vocabulary() : 2)
                .toArray();
    }

    /** Reads a prompt from a token on, which begins a page, by a single call. Returns the next token. */
    int prefill(int[] prompt, int from, int firstPage) {
        int columns = Math.max(shapes.pagesFor(prompt.length), StepShapes.MINIMUM_COLUMNS);
        int tokens = Math.max(shapes.pagesFor(prompt.length - from), from == 0 ? StepShapes.MINIMUM_COLUMNS : 1);
        Step step = new Step(model.prefills().getFirst(), tokens * shapes.stride(), columns);
        step.set(0, prompt, from, prompt.length - from);
        setPages(step, 0, firstPage);
        runner.run(step, logits);
        return logits.choose(0, prompt.length - from - 1, greedy);
    }

    /**
     * Continues prompts of the same length: a prefill of each, then decode steps of all.
     *
     * @param between called before each decode step
     * @return the times of the tokens of each row
     */
    List<long[]> generate(int[][] prompts, int count, Runnable between) {
        int rows = prompts.length;
        int length = prompts[0].length;
        int[][] tokens = new int[rows][length + count];
        long[][] times = new long[rows][count];
        for (int row = 0; row < rows; row++) {
            System.arraycopy(prompts[row], 0, tokens[row], 0, length);
            tokens[row][length] = prefill(prompts[row], 0, pageBehind(row, length + count));
            times[row][0] = System.nanoTime();
        }
        Entry decode = Measured.smallest(model.decodes(), rows);
        for (int i = 1; i < count; i++) {
            between.run();
            Step step = new Step(decode, 1, Math.max(shapes.pagesFor(length + i), StepShapes.MINIMUM_COLUMNS));
            for (int row = 0; row < rows; row++) {
                step.set(row, tokens[row], length + i - 1, 1);
                setPages(step, row, pageBehind(row, length + count));
            }
            runner.run(step, logits);
            long now = System.nanoTime();
            for (int row = 0; row < rows; row++) {
                tokens[row][length + i] = logits.choose(row, 0, greedy);
                times[row][i] = now;
            }
        }
        return List.of(times);
    }

    private static void setPages(Step step, int row, int first) {
        for (int i = 0; i < step.columns(); i++) {
            step.setPage(row, i, first + i);
        }
    }

    @Override
    public void close() {
        cache.close();
        program.close();
    }
}
