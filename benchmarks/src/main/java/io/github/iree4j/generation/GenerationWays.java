package io.github.iree4j.generation;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.generation.sampling.SamplingOptions;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * How much faster are steps ahead, or proposed tokens? All ways take turns in a single run, beside a plain loop.
 *
 * <pre>
 * java -cp benchmarks/target/benchmarks.jar io.github.iree4j.generation.GenerationWays ahead SECONDS MODULE PARAMETERS CONFIG
 * java -cp benchmarks/target/benchmarks.jar io.github.iree4j.generation.GenerationWays proposals SECONDS MODULE PARAMETERS CONFIG \
 *     [MODULE PARAMETERS CONFIG of a draft]
 * java -cp benchmarks/target/benchmarks.jar io.github.iree4j.generation.GenerationWays speed SECONDS MODULE PARAMETERS CONFIG
 * </pre>
 *
 * <p>Steps ahead need a module with {@code top_k} 1. With {@code speed}, there is nothing to compare: the tokens per second
 * of a prompt of 512 tokens, and of 128 generated tokens, as {@code llama-bench} prints them.
 */
final class GenerationWays {
    private static final long SEED = 42;
    private static final int ROUNDS = 6;
    private static final int TOKENS = 200;
    private static final int LONG_PROMPT = 512;
    private static final int SPEED_ROUNDS = 4; // of large models
    private static final int ANSWER = 128;
    private static final int[] SEQUENCES = {1, 4};
    private static final int PROPOSED = 8;
    private static final int DRAFTED = 4;

    private final BareLoop loop;
    private final double seconds;
    private final Map<String, Generator> generators = new LinkedHashMap<>();

    private GenerationWays(BareLoop loop, double seconds) {
        this.loop = loop;
        this.seconds = seconds;
    }

    public static void main(String[] arguments) throws InterruptedException {
        double seconds = Double.parseDouble(arguments[1]);
        try (IreeRuntime runtime = IreeRuntime.create();
                BareLoop loop = BareLoop.open(runtime, arguments[2], arguments[3], arguments[4]);
                Program draft = arguments.length > 5 ? BareLoop.load(runtime, arguments[5], arguments[6]) : null) {
            GenerationWays ways = new GenerationWays(loop, seconds);
            try {
                switch (arguments[0]) {
                    case "ahead" -> ways.ahead();
                    case "proposals" -> ways.proposals(draft, arguments.length > 7 ? Path.of(arguments[7]) : null);
                    case "speed" -> ways.speed();
                    default -> throw new IllegalArgumentException(arguments[0]);
                }
            } finally {
                ways.generators.values().forEach(Generator::close);
            }
        }
    }

    private void add(String name, GeneratorOptions.Builder options) {
        generators.put(name, Generator.create(loop.program(), options.build()));
    }

    private void speed() throws InterruptedException {
        add("one", loop.options().chunkTokens(LONG_PROMPT));
        Generator generator = generators.get("one");
        List<Double> prompts = new ArrayList<>();
        List<TokenTimes> answers = new ArrayList<>();
        SplittableRandom random = new SplittableRandom(SEED);
        for (int round = 0; round < SPEED_ROUNDS; round++) {
            Generation read = generator.submit(GenerationRequest.of(1, loop.randomTokens(random, LONG_PROMPT)));
            read.result().await();
            TokenTimes turn = TokenTimes.repeat(
                    seconds,
                    () -> TokenTimes.Readers.start(
                                    generator::submit, ANSWER, new int[][] {loop.randomTokens(random, 1)})
                            .await());
            if (round > 0) {
                prompts.add(LONG_PROMPT
                        * 1e9
                        / read.timeToFirstToken().orElseThrow().toNanos());
                answers.add(turn);
            }
        }
        System.out.print(generator.description());
        System.out.printf(
                "prompt of %d tokens: %.1f tokens/s; %d generated: %.1f tokens/s; medians of %d turns%n",
                LONG_PROMPT,
                TokenTimes.middle(prompts, Double::doubleValue),
                ANSWER,
                TokenTimes.middle(answers).perSecond(),
                SPEED_ROUNDS - 1);
    }

    private void ahead() throws InterruptedException {
        for (int steps : new int[] {1, 2, 4, 8}) {
            add("%d steps at once".formatted(steps), loop.options().stepsAhead(steps));
        }
        System.out.print(generators.get("8 steps at once").description());
        System.out.println("| sequences | way | tokens/s | of one step at a time | p50, p99 between tokens, ms |");
        System.out.println("|---|---|---|---|---|");
        int[] prompt = text("The generator reads pages. ", 32);
        for (int sequences : SEQUENCES) {
            compare("| %d |".formatted(sequences), sequences, prompt, SamplingOptions.GREEDY);
        }
    }

    private void proposals(@Nullable Program draft, @Nullable Path config) throws InterruptedException {
        add("none", loop.options());
        add("look-up", loop.options().proposedTokens(PROPOSED));
        if (draft != null) {
            add("draft", loop.options().proposedTokens(DRAFTED).draft(draft).draftConfig(config));
        }
        System.out.print(generators.values().stream().toList().getLast().description());
        System.out.println(
                "| sequences, prompt | proposals | tokens/s | of none | p50, p99 between tokens, ms | accepted of proposed | accepted a step | tokens a step |");
        System.out.println("|---|---|---|---|---|---|---|---|");
        int[] repetitive = text("A page has 16 tokens. A sequence has pages. ", 160);
        int[] other = loop.randomTokens(new SplittableRandom(SEED), 160);
        SamplingOptions drawn =
                SamplingOptions.builder().temperature(1).seed(SEED).build();
        for (int sequences : SEQUENCES) {
            compare("| %d, repetitive |".formatted(sequences), sequences, repetitive, SamplingOptions.GREEDY);
            compare("| %d, noise |".formatted(sequences), sequences, other, SamplingOptions.GREEDY);
            compare("| %d, noise, drawn at random |".formatted(sequences), sequences, other, drawn);
        }
    }

    private int[] text(String text, int length) {
        byte[] bytes = text.repeat(length).getBytes(StandardCharsets.UTF_8);
        int[] tokens = new int[length];
        Arrays.setAll(tokens, i -> bytes[i] % Math.max(2, loop.model().vocabulary()));
        return tokens;
    }

    /** The figures of a way over all turns but the first. */
    private static final class Way {
        private final SplittableRandom random = new SplittableRandom(SEED); // the same prompts for each way
        private final List<TokenTimes> turns = new ArrayList<>();
        private long generated;
        private long steps;
        private long proposed;
        private long accepted;

        void add(TokenTimes times, GeneratorStatistics before, GeneratorStatistics after) {
            turns.add(times);
            generated += after.generatedTokens() - before.generatedTokens();
            steps += after.decodeSteps() - before.decodeSteps();
            proposed += after.proposedTokens() - before.proposedTokens();
            accepted += after.acceptedTokens() - before.acceptedTokens();
        }
    }

    private void compare(String row, int sequences, int[] prompt, SamplingOptions sampling)
            throws InterruptedException {
        Map<String, Way> ways = new LinkedHashMap<>();
        generators.keySet().forEach(each -> ways.put(each, new Way()));
        List<TokenTimes> bare = new ArrayList<>();
        SplittableRandom forLoop = new SplittableRandom(SEED);
        for (int round = 0; round < ROUNDS; round++) {
            TokenTimes turn = TokenTimes.repeat(
                    seconds, () -> loop.generate(fresh(prompt, sequences, forLoop), TOKENS, () -> {}));
            if (round > 0) {
                bare.add(turn);
            }
            for (Map.Entry<String, Generator> each : generators.entrySet()) {
                Generator generator = each.getValue();
                GeneratorStatistics before = generator.statistics();
                Way way = ways.get(each.getKey());
                turn = TokenTimes.repeat(seconds, () -> {
                    List<GenerationRequest> requests = Arrays.stream(fresh(prompt, sequences, way.random))
                            .map(one -> GenerationRequest.of(TOKENS, one).sampling(sampling))
                            .toList();
                    return TokenTimes.Readers.start(generator::submit, requests).await();
                });
                if (round > 0) {
                    way.add(turn, before, generator.statistics());
                }
            }
        }
        double first = TokenTimes.middle(ways.values().iterator().next().turns).perSecond();
        print(row, "loop", TokenTimes.middle(bare), first, "");
        ways.forEach((name, way) -> print(
                row,
                name,
                TokenTimes.middle(way.turns),
                first,
                generators.containsKey("none")
                        ? " %.2f | %.2f | %.2f |"
                                .formatted(
                                        way.accepted / (double) way.proposed,
                                        way.accepted / (double) way.steps,
                                        way.generated / (double) way.steps)
                        : ""));
    }

    private static void print(String row, String name, TokenTimes times, double first, String more) {
        System.out.printf(
                "%s %s | %.0f | %.3f | %.2f, %.2f |%s%n",
                row, name, times.perSecond(), times.perSecond() / first, times.median() / 1e3, times.p99() / 1e3, more);
    }

    /** Returns prompts with another first page each, so that no generator knows the prefix. */
    private int[][] fresh(int[] prompt, int sequences, SplittableRandom random) {
        int[][] prompts = new int[sequences][];
        Arrays.setAll(prompts, _ -> {
            int[] one = prompt.clone();
            System.arraycopy(loop.randomTokens(random, 4), 0, one, 0, 4);
            return one;
        });
        return prompts;
    }
}
