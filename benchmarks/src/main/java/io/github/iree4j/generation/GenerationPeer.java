package io.github.iree4j.generation;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * How many tokens per second does a generator give, beside a plain loop over the same decode function? Both sides take
 * turns in a single run; greedy decoding of equal prompts.
 *
 * <pre>
 * java -cp benchmarks/target/benchmarks.jar io.github.iree4j.generation.GenerationPeer MODULE PARAMETERS CONFIG [SECONDS]
 * </pre>
 */
public final class GenerationPeer {
    private static final int PROMPT = 32;
    private static final int TOKENS = 200;
    private static final int ROUNDS = 9;

    private final ModelInterface model;
    private final ModelConfig config;
    private final Generator generator;
    private final StepRunner runner;
    private final StepShapes shapes;
    private final double seconds;

    private GenerationPeer(
            ModelInterface model, ModelConfig config, Generator generator, StepRunner runner, double seconds) {
        this.model = model;
        this.config = config;
        this.generator = generator;
        this.runner = runner;
        this.shapes = StepShapes.of(config, GeneratorOptions.DEFAULTS.chunkTokens());
        this.seconds = seconds;
    }

    /** Tokens per second and the times between tokens of a sequence, in microseconds. */
    private record Figures(double perSecond, double median, double p99) {
        static Figures of(long tokens, long nanos, List<long[]> times) {
            long[] gaps = times.stream()
                    .flatMapToLong(each -> IntStream.range(1, each.length).mapToLong(i -> each[i] - each[i - 1]))
                    .sorted()
                    .toArray();
            return new Figures(
                    tokens * 1e9 / nanos, gaps[gaps.length / 2] / 1e3, gaps[(int) (gaps.length * 0.99)] / 1e3);
        }
    }

    /**
     * Runs the comparison.
     *
     * @param arguments module, archive of scope {@code model}, {@code config.json}, and seconds per measurement
     * @throws InterruptedException never
     */
    public static void main(String[] arguments) throws InterruptedException {
        Path config = Path.of(arguments[2]);
        double seconds = arguments.length > 3 ? Double.parseDouble(arguments[3]) : 1;
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(ProgramOptions.builder()
                        .module(Path.of(arguments[0]))
                        .parameters("model", Path.of(arguments[1]))
                        .build());
                Generator generator = Generator.create(
                        program, GeneratorOptions.builder().config(config).build())) {
            ModelConfig read = ModelConfig.parse(arguments[2], ModelConfig.text(config));
            ModelInterface model = ModelInterface.of(program, read);
            System.out.print(generator.description());
            try (CacheMemory cache = new CacheMemory(model, read.pages(), 0)) {
                GenerationPeer peer = new GenerationPeer(model, read, generator, StepRunner.on(model, cache), seconds);
                for (Entry each : model.decodes()) {
                    peer.compare(each);
                }
            }
        }
    }

    private void compare(Entry decode) throws InterruptedException {
        List<Figures> loops = new ArrayList<>();
        List<Figures> generations = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) { // the first warms up
            loops.add(repeat(() -> loop(decode)));
            generations.add(repeat(() -> generate(decode.batch())));
        }
        Figures loop = middle(loops);
        Figures generation = middle(generations);
        System.out.printf(
                "%d sequences: loop %.0f tokens/s (median %.0f us, p99 %.0f us between tokens); generator %.0f (%.0f, %.0f); ratio %.3f, %.1f us a step more%n",
                decode.batch(),
                loop.perSecond,
                loop.median,
                loop.p99,
                generation.perSecond,
                generation.median,
                generation.p99,
                generation.perSecond / loop.perSecond,
                generation.median - loop.median);
    }

    private static Figures middle(List<Figures> figures) {
        List<Figures> sorted = figures.subList(1, figures.size()).stream()
                .sorted(Comparator.comparingDouble(Figures::perSecond))
                .toList();
        return sorted.get(sorted.size() / 2);
    }

    /** Generates all sequences, and returns the times of their tokens. */
    @FunctionalInterface
    private interface Way {
        List<long[]> run() throws InterruptedException;
    }

    private Figures repeat(Way way) throws InterruptedException {
        List<long[]> times = new ArrayList<>();
        long tokens = 0;
        long start = System.nanoTime();
        do {
            for (long[] each : way.run()) {
                times.add(each);
                tokens += each.length;
            }
        } while (System.nanoTime() - start < seconds * 1e9);
        return Figures.of(tokens, System.nanoTime() - start, times);
    }

    private int[] prompt(int row) {
        int[] prompt = new int[PROMPT];
        Arrays.setAll(prompt, i -> (i * 7 + row * 31) % Math.max(2, model.vocabulary()));
        return prompt;
    }

    /** Reads the prompt and generates by a plain loop: a prefill of each sequence, then decode steps of all. */
    private List<long[]> loop(Entry decode) {
        int rows = decode.batch();
        int[][] tokens = new int[rows][PROMPT + TOKENS];
        long[][] times = new long[rows][TOKENS];
        int perRow = shapes.pagesFor(PROMPT + TOKENS);
        Logits logits = new Logits();
        Sampler sampler = new Sampler(GenerationRequest.of(1, 0));
        for (int row = 0; row < rows; row++) {
            System.arraycopy(prompt(row), 0, tokens[row], 0, PROMPT);
            int columns = Math.max(shapes.pagesFor(PROMPT), StepShapes.MINIMUM_COLUMNS);
            Step step = new Step(model.prefills().getFirst(), columns * config.stride(), columns);
            step.set(0, tokens[row], 0, PROMPT);
            pages(step, 0, columns, 1 + row * perRow);
            runner.run(step, logits);
            tokens[row][PROMPT] = logits.choose(0, PROMPT - 1, sampler);
            times[row][0] = System.nanoTime();
        }
        for (int i = 1; i < TOKENS; i++) {
            int columns = Math.max(shapes.pagesFor(PROMPT + i), StepShapes.MINIMUM_COLUMNS);
            Step step = new Step(decode, 1, columns);
            for (int row = 0; row < rows; row++) {
                step.set(row, tokens[row], PROMPT + i - 1, 1);
                pages(step, row, columns, 1 + row * perRow);
            }
            runner.run(step, logits);
            long now = System.nanoTime();
            for (int row = 0; row < rows; row++) {
                tokens[row][PROMPT + i] = logits.choose(row, 0, sampler);
                times[row][i] = now;
            }
        }
        return List.of(times);
    }

    private static void pages(Step step, int row, int columns, int first) {
        for (int i = 0; i < columns; i++) {
            step.setPage(row, i, first + i);
        }
    }

    private List<long[]> generate(int sequences) throws InterruptedException {
        List<Generation> generations = new ArrayList<>();
        for (int row = 0; row < sequences; row++) {
            generations.add(generator.submit(GenerationRequest.of(TOKENS, prompt(row))));
        }
        List<long[]> times = new ArrayList<>();
        List<Thread> readers = new ArrayList<>();
        for (Generation each : generations) {
            long[] received = new long[TOKENS];
            times.add(received);
            readers.add(Thread.startVirtualThread(() -> {
                try {
                    for (int i = 0; i < TOKENS; i++) {
                        each.next();
                        received[i] = System.nanoTime();
                    }
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }));
        }
        for (Thread each : readers) {
            each.join();
        }
        return times;
    }
}
