package io.github.iree4j.generation;

import io.github.iree4j.IreeRuntime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * How many tokens per second does a generator give, beside a plain loop over the same decode function, and how long is a
 * step beside the kernels? Both sides take turns in a single run; greedy decoding of equal prompts.
 *
 * <pre>
 * java -cp benchmarks/target/benchmarks.jar io.github.iree4j.generation.GenerationPeer MODULE PARAMETERS CONFIG [SECONDS]
 * </pre>
 */
public final class GenerationPeer {
    private static final long SEED = 42;
    private static final int PROMPT = 32;
    private static final int TOKENS = 200;
    private static final int ROUNDS = 9;

    private final BareLoop loop;
    private final Generator generator;
    private final double seconds;

    private GenerationPeer(BareLoop loop, Generator generator, double seconds) {
        this.loop = loop;
        this.generator = generator;
        this.seconds = seconds;
    }

    /**
     * Runs the comparison.
     *
     * @param arguments module, archive of scope {@code model}, {@code config.json}, and seconds per measurement
     * @throws InterruptedException never
     */
    public static void main(String[] arguments) throws InterruptedException {
        double seconds = arguments.length > 3 ? Double.parseDouble(arguments[3]) : 1;
        try (IreeRuntime runtime = IreeRuntime.create();
                BareLoop loop = BareLoop.open(runtime, arguments[0], arguments[1], arguments[2])) {
            try (Generator generator =
                    Generator.create(loop.program(), loop.options().build())) {
                System.out.print(generator.description());
                GenerationPeer peer = new GenerationPeer(loop, generator, seconds);
                for (Entry each : loop.model().decodes()) {
                    peer.compare(each.batch());
                }
            }
            for (Entry each : loop.model().decodes()) {
                for (boolean reading : new boolean[] {true, false}) {
                    SplittableRandom random = new SplittableRandom(SEED);
                    StepCost.print(loop, each, TOKENS, reading, () -> prompts(loop, random, each.batch()), seconds);
                }
            }
        }
    }

    private void compare(int sequences) throws InterruptedException {
        List<TokenTimes> loops = new ArrayList<>();
        List<TokenTimes> generations = new ArrayList<>();
        SplittableRandom forLoop = new SplittableRandom(SEED);
        SplittableRandom forGenerator = new SplittableRandom(SEED); // the same prompts in turn
        for (int round = 0; round < ROUNDS; round++) { // the first warms up
            loops.add(TokenTimes.repeat(
                    seconds, () -> loop.generate(prompts(loop, forLoop, sequences), TOKENS, () -> {})));
            generations.add(TokenTimes.repeat(
                    seconds,
                    () -> TokenTimes.Readers.start(generator::submit, TOKENS, prompts(loop, forGenerator, sequences))
                            .await()));
        }
        TokenTimes bare = TokenTimes.middle(loops.subList(1, ROUNDS));
        TokenTimes generation = TokenTimes.middle(generations.subList(1, ROUNDS));
        System.out.printf(
                "%d sequences: loop %.0f tokens/s (median %.0f us, p99 %.0f us between tokens); generator %.0f (%.0f, %.0f); ratio %.3f, %.1f us a step more%n",
                sequences,
                bare.perSecond(),
                bare.median(),
                bare.p99(),
                generation.perSecond(),
                generation.median(),
                generation.p99(),
                generation.perSecond() / bare.perSecond(),
                generation.median() - bare.median());
    }

    /** Returns prompts that no generator knows the prefix of. */
    private static int[][] prompts(BareLoop loop, SplittableRandom random, int sequences) {
        int[][] prompts = new int[sequences][];
        Arrays.setAll(prompts, _ -> loop.randomTokens(random, PROMPT));
        return prompts;
    }
}
