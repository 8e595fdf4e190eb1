package io.github.iree4j.generation;

import io.github.iree4j.IreeRuntime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * How evenly do tokens come while long prompts arrive, how soon with a known prefix, and with more clients than pages? The
 * peer is a loop that reads a prompt in a single call as soon as the prompt is there.
 *
 * <pre>
 * java -cp benchmarks/target/benchmarks.jar io.github.iree4j.generation.GenerationLoad MODULE PARAMETERS CONFIG [SCALE]
 * </pre>
 *
 * <p>SCALE 1 takes some ten minutes. Smaller numbers are to try: fewer turns, and shorter answers.
 */
final class GenerationLoad {
    private static final long SEED = 42;
    private static final List<Integer> SEQUENCES = List.of(4, 16, 32);
    private static final int PROMPT = 32;
    private static final int LONG_PROMPT = 768;
    private static final int KNOWN = 704;
    private static final long EVERY_NANOS = 500_000_000;

    private final BareLoop loop;
    private final double scale;
    private final SplittableRandom random = new SplittableRandom(SEED);

    private GenerationLoad(BareLoop loop, double scale) {
        this.loop = loop;
        this.scale = scale;
    }

    public static void main(String[] arguments) throws InterruptedException {
        double scale = arguments.length > 3 ? Double.parseDouble(arguments[3]) : 1;
        try (IreeRuntime runtime = IreeRuntime.create();
                BareLoop loop = BareLoop.open(runtime, arguments[0], arguments[1], arguments[2])) {
            GenerationLoad load = new GenerationLoad(loop, scale);
            try (Generator large = load.generator(256);
                    Generator small = load.generator(64)) {
                for (int sequences : SEQUENCES) {
                    load.longPrompts(sequences, large, small);
                }
                load.prefixes(large);
            }
            GenerationClients.print(loop, scale);
        }
    }

    private Generator generator(int chunkTokens) {
        return Generator.create(
                loop.program(), loop.options().chunkTokens(chunkTokens).build());
    }

    // -- long prompts between the tokens of others
    // ---------------------------------------------------------------------

    /** Sequences that decode while long prompts arrive, and how long these prompts took until their first token. */
    private record Turn(TokenTimes tokens, List<Long> firsts) {}

    /** A turn, without long prompts or with. */
    @FunctionalInterface
    private interface Way {
        Turn run(boolean arrivals) throws InterruptedException;
    }

    private void longPrompts(int sequences, Generator large, Generator small) throws InterruptedException {
        Map<String, Way> ways = new LinkedHashMap<>();
        ways.put("loop, whole prompts", arrivals -> longBare(sequences, arrivals));
        ways.put("generator, 256 tokens", arrivals -> longGenerator(large, sequences, arrivals));
        ways.put("generator, 64 tokens", arrivals -> longGenerator(small, sequences, arrivals));
        System.out.printf(
                "%d sequences decode %d tokens each; a prompt of %d tokens every %d ms, or none%n",
                sequences, answer(), LONG_PROMPT, EVERY_NANOS / 1_000_000);
        System.out.println(
                "| reads | prompts | tokens/s | p50, p99, most between tokens, ms | first token of a prompt, ms |");
        System.out.println("|---|---|---|---|---|");
        Map<String, List<Turn>> turns = new LinkedHashMap<>();
        int count = Math.max(2, (int) (5 * scale));
        for (int turn = 0; turn < count; turn++) { // the first warms up
            for (boolean arrivals : new boolean[] {false, true}) {
                for (Map.Entry<String, Way> each : ways.entrySet()) {
                    Turn one = each.getValue().run(arrivals);
                    if (turn > 0) {
                        turns.computeIfAbsent(
                                        "| %s | %s |".formatted(each.getKey(), arrivals ? "arrive" : "none"),
                                        _ -> new ArrayList<>())
                                .add(one);
                    }
                }
            }
        }
        turns.forEach((name, all) -> {
            TokenTimes tokens = TokenTimes.middle(all.stream().map(Turn::tokens).toList());
            List<Long> firsts =
                    all.stream().flatMap(one -> one.firsts().stream()).toList();
            System.out.printf(
                    "%s %.0f | %.2f, %.2f, %.2f | %s |%n",
                    name,
                    tokens.perSecond(),
                    tokens.median() / 1e3,
                    tokens.p99() / 1e3,
                    tokens.longest() / 1e3,
                    firsts.isEmpty()
                            ? "–"
                            : "%.0f (of %d)".formatted(TokenTimes.quantile(firsts, 0.5) / 1e6, firsts.size()));
        });
    }

    private int answer() {
        return Math.max(60, (int) (400 * scale));
    }

    private int[][] prompts(int sequences) {
        int[][] prompts = new int[sequences][];
        Arrays.setAll(prompts, _ -> loop.randomTokens(random, PROMPT));
        return prompts;
    }

    private Turn longBare(int sequences, boolean arrivals) {
        List<Long> firsts = new ArrayList<>();
        long start = System.nanoTime();
        long[] next = {start + EVERY_NANOS};
        List<long[]> times = loop.generate(prompts(sequences), answer(), () -> {
            if (arrivals && System.nanoTime() - next[0] >= 0) { // one: a slow machine would never decode
                loop.prefill(loop.randomTokens(random, LONG_PROMPT), 0, loop.pageBehind(sequences, PROMPT + answer()));
                firsts.add(System.nanoTime() - next[0]);
                next[0] += EVERY_NANOS;
            }
        });
        return new Turn(TokenTimes.of(System.nanoTime() - start, times), firsts);
    }

    private Turn longGenerator(Generator generator, int sequences, boolean arrivals) throws InterruptedException {
        List<Generation> prompts = new ArrayList<>();
        long start = System.nanoTime();
        TokenTimes.Readers readers = TokenTimes.Readers.start(generator::submit, answer(), prompts(sequences));
        long next = start + EVERY_NANOS;
        while (arrivals && !readers.await(next - System.nanoTime())) {
            prompts.add(generator.submit(GenerationRequest.of(1, loop.randomTokens(random, LONG_PROMPT))));
            next += EVERY_NANOS;
        }
        List<long[]> times = readers.await();
        long last =
                times.stream().mapToLong(each -> each[each.length - 1]).max().orElseThrow();
        List<Long> firsts = new ArrayList<>();
        for (Generation each : prompts) { // also those that end after the others
            each.result().await();
            firsts.add(each.timeToFirstToken().orElseThrow().toNanos());
        }
        return new Turn(TokenTimes.of(last - start, times), firsts);
    }

    // -- known prefixes ----------------------------------------------------------------------------------------------

    private void prefixes(Generator generator) {
        List<List<Long>> times = IntStream.range(0, 4)
                .<List<Long>>mapToObj(_ -> new ArrayList<>())
                .toList();
        int turns = Math.max(3, (int) (31 * scale));
        for (int turn = 0; turn < turns; turn++) {
            int[] cold = loop.randomTokens(random, LONG_PROMPT);
            int[] known = cold.clone();
            System.arraycopy(loop.randomTokens(random, LONG_PROMPT - KNOWN), 0, known, KNOWN, LONG_PROMPT - KNOWN);
            List<Long> turnTimes = List.of(
                    bareFirst(cold, 0),
                    bareFirst(known, KNOWN),
                    first(generator, cold, 0),
                    first(generator, known, KNOWN));
            for (int i = 0; turn > 0 && i < 4; i++) {
                times.get(i).add(turnTimes.get(i));
            }
        }
        double[] middle = times.stream()
                .mapToDouble(each -> TokenTimes.quantile(each, 0.5) / 1e6)
                .toArray();
        System.out.printf("%nfirst token of a prompt of %d tokens, ms; medians of %d turns%n", LONG_PROMPT, turns - 1);
        System.out.printf("| reads | nothing known | %d tokens known | ratio |%n|---|---|---|---|%n", KNOWN);
        System.out.printf(
                "| loop, a single call | %.2f | %.2f | %.3f |%n", middle[0], middle[1], middle[1] / middle[0]);
        System.out.printf(
                "| generator, 256 tokens | %.2f | %.2f | %.3f |%n", middle[2], middle[3], middle[3] / middle[2]);
    }

    private long bareFirst(int[] prompt, int from) {
        long start = System.nanoTime();
        loop.prefill(prompt, from, 1);
        return System.nanoTime() - start;
    }

    private static long first(Generator generator, int[] prompt, int known) {
        Generation generation = generator.submit(GenerationRequest.of(1, prompt));
        int shared = generation.result().await().sharedTokens();
        if (shared != known) {
            throw new IllegalStateException("%d tokens are shared instead of %d".formatted(shared, known));
        }
        return generation.timeToFirstToken().orElseThrow().toNanos();
    }
}
