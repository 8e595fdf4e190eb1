package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Program;
import io.github.iree4j.generation.sampling.Sampler;
import io.github.iree4j.generation.sampling.SamplingOptions;
import io.github.iree4j.generation.sampling.TokenConstraint;
import io.github.iree4j.generation.sampling.TokenVocabulary;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Requests to a compiled decoder, compared with a plain loop over the largest decode function: prompts with common
 * beginnings, too few pages for all requests, pages on the host, proposals, drafts, steps ahead, cancellations, and requests with too little
 * time.
 */
public final class GenerationMix implements AutoCloseable {
    private static final int PAGES = 24;
    private static final int BYTES = 256;

    private final Program program;
    private final Path config;
    private final int requests;
    private final int mostPages;
    private final ModelInterface plain;
    private final CacheMemory memory;
    private final StepRunner runner;
    private final int stride;
    private final int vocabulary;
    private final TokenConstraint words;
    private Events events = new Events(0, 0, 0, 0, 0, 0);

    /**
     * Numbers of events of the requests.
     *
     * @param preemptions sequences that lost their pages
     * @param restoredPages pages that came back from the host
     * @param sharedTokens tokens of prompts found in the cache
     * @param acceptedTokens proposals that were right
     * @param cancelled requests that ended by a cancellation
     * @param late requests that ended by their timeout
     */
    public record Events(
            long preemptions, long restoredPages, long sharedTokens, long acceptedTokens, long cancelled, long late) {}

    /**
     * Creates a mix.
     *
     * @param program the decoder
     * @param plain the decoder of the plain loop: the same, or a decoder with the same parameters on other devices
     * @param config the file of the configuration
     * @param requests number of requests to a generator
     * @param mostPages most pages of a generator, at least 9
     */
    public GenerationMix(Program program, Program plain, Path config, int requests, int mostPages) {
        this.program = program;
        this.config = config;
        this.requests = requests;
        this.mostPages = mostPages;
        ModelConfig parsed =
                ModelConfig.parse("config", ModelConfig.text(config)).withPages(PAGES);
        this.stride = parsed.stride();
        this.plain = ModelInterface.of(plain, parsed);
        this.memory = new CacheMemory(this.plain, PAGES, 0);
        this.runner = StepRunner.on(this.plain, memory);
        this.vocabulary = this.plain.vocabulary() == 0 ? BYTES : this.plain.vocabulary();
        this.words = vocabulary == BYTES
                ? TokenConstraint.regex(TokenVocabulary.bytes(), "[a-z]{1,4}( [é-λ]{0,9}){0,2}")
                : TokenConstraint.regex(letters(vocabulary), "[a-h]{1,4}(z[i-y]{0,9}){0,2}");
    }

    private static TokenVocabulary letters(int count) {
        return TokenVocabulary.of(IntStream.range(0, count)
                .mapToObj(each -> Character.toString('`' + each % 32).getBytes(StandardCharsets.US_ASCII))
                .toList());
    }

    /** Sends the requests of a seed to a new generator, and fails unless the tokens are the tokens of the plain loop. */
    public void round(long seed) throws InterruptedException {
        SplittableRandom random = new SplittableRandom(seed);
        List<GenerationRequest> all = requests(random);
        int pages = random.nextInt(9, mostPages + 1);
        GeneratorOptions.Builder options = GeneratorOptions.builder()
                .config(config)
                .probePrompts(1)
                .pages(pages)
                .chunkTokens(random.nextInt(1, 5 * stride))
                .hostPages(random.nextInt(2) * random.nextInt(30))
                .stepsAhead(random.nextInt(1, 9));
        if (plain.prefillPosition() && random.nextBoolean()) {
            options.draft(program).draftConfig(config).proposedTokens(1); // the policy says how many
        }
        int proposals = random.nextInt(3) * random.nextInt(1, 12);
        Speculation speculation = random.nextInt(4) > 0 ? new EveryProposal(proposals) : new Speculation(proposals);
        Admission admission = random.nextInt(4) > 0 ? new HastyAdmission() : new Admission();
        Generator generator = Generator.create(program, options.build(), System::nanoTime, admission, speculation);
        long late = events.late;
        long cancelled = events.cancelled;
        try (generator) {
            Set<Integer> victims = new HashSet<>();
            Map<Integer, List<Integer>> read = new HashMap<>(); // while requests are submitted
            List<Generation> generations = submit(generator, all, random, victims, read);
            for (int i = 0; i < requests; i++) {
                List<Integer> tokens = tokens(generations.get(i), victims.contains(i));
                List<Integer> expected = loop(all.get(i));
                List<Integer> before = read.getOrDefault(i, List.of());
                assertThat(before)
                        .as("tokens read early of request %d of seed %d", i, seed)
                        .isEqualTo(expected.subList(0, Math.min(before.size(), expected.size())));
                if (tokens != null) {
                    assertThat(tokens).as("request %d of seed %d", i, seed).isEqualTo(expected);
                } else if (victims.contains(i)) {
                    cancelled++;
                } else {
                    late++;
                }
            }
        }
        GeneratorStatistics last = generator.statistics();
        assertThat(last.running() + last.waiting())
                .as("sequences at the end of seed %d", seed)
                .isZero();
        assertThat(last.freePages() + last.keptPages())
                .as("pages at the end of seed %d", seed)
                .isEqualTo(pages - 1);
        events = new Events(
                events.preemptions + last.preemptions(),
                events.restoredPages + last.restoredPages(),
                events.sharedTokens + last.sharedTokens(),
                events.acceptedTokens + last.acceptedTokens(),
                cancelled,
                late);
    }

    /** Submits the requests, reads tokens of some, and cancels some. */
    private static List<Generation> submit(
            Generator generator,
            List<GenerationRequest> all,
            SplittableRandom random,
            Set<Integer> victims,
            Map<Integer, List<Integer>> read)
            throws InterruptedException {
        List<Generation> generations = new ArrayList<>();
        for (GenerationRequest each : all) {
            generations.add(generator.submit(each));
            int one = Math.max(0, generations.size() - 1 - random.nextInt(4));
            boolean cancels = random.nextInt(10) == 0;
            int reads = random.nextInt(3) > 0 ? 0 : random.nextInt(9); // the next request arrives during a step
            Generation chosen = generations.get(one);
            while (reads-- > 0
                    && !victims.contains(one)
                    && chosen.request().timeout().isEmpty()) {
                chosen.next().ifPresent(read.computeIfAbsent(one, _ -> new ArrayList<>())::add);
            }
            if (cancels && victims.add(one)) {
                chosen.cancel();
            }
        }
        return generations;
    }

    /** Returns the numbers so far. */
    public Events events() {
        return events;
    }

    /** Returns the tokens, or null for a request that was cancelled or had too little time; no other request may fail. */
    private static @Nullable List<Integer> tokens(Generation generation, boolean cancelled) {
        try {
            return generation.result().await().tokens();
        } catch (IreeException e) {
            boolean late = e.code() == StatusCode.DEADLINE_EXCEEDED
                    && generation.request().timeout().isPresent();
            if (late || e.code() == StatusCode.CANCELLED && cancelled) {
                return null;
            }
            throw e;
        }
    }

    private List<GenerationRequest> requests(SplittableRandom random) {
        List<GenerationRequest> made = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            // A decoder answers a prompt of zeros with repetitions.
            int values = random.nextInt(3) > 0 ? vocabulary : 1;
            int[] prompt = random.ints(random.nextInt(1, 5 * stride), 0, values).toArray();
            if (i > 0 && random.nextInt(3) > 0) {
                int[] other = made.get(random.nextInt(i)).prompt();
                System.arraycopy(other, 0, prompt, 0, Math.min(other.length, prompt.length));
            }
            GenerationRequest request = GenerationRequest.of(random.nextInt(1, 5 * stride / 2), prompt);
            request = request.tenant("tenant" + random.nextInt(3));
            boolean choice = plain.vocabulary() > 0; // otherwise the program returns a single candidate
            if (choice && random.nextBoolean()) {
                request = request.sampling(SamplingOptions.builder()
                        .temperature(0.8f)
                        .topK(20)
                        .topP(0.95f)
                        .seed(random.nextLong())
                        .repetitionPenalty(random.nextInt(3) == 0 ? 1.2f : 1)
                        .frequencyPenalty(random.nextInt(3) / 4f)
                        .build());
            }
            if (choice && random.nextInt(4) == 0) {
                request = request.sampling(
                        request.sampling().toBuilder().constraint(words).build());
            }
            made.add(
                    random.nextInt(10) == 0
                            ? request.timeout(Duration.ofMillis(random.nextInt(2) * random.nextInt(20)))
                            : request);
        }
        return made;
    }

    /** Generates by decode steps only, in row 0. */
    public List<Integer> loop(GenerationRequest request) {
        int[] tokens = new int[request.promptLength() + request.maximumTokens()];
        System.arraycopy(request.prompt(), 0, tokens, 0, request.promptLength());
        Sampler sampler = request.sampler();
        Logits logits = new Logits();
        List<Integer> generated = new ArrayList<>();
        for (int at = 0; at < tokens.length - 1; at++) {
            int columns = Math.max(2, at / stride + 1);
            Step step = new Step(plain.decodes().getLast(), 1, columns);
            step.set(0, tokens, at, 1);
            for (int i = 0; i < columns; i++) {
                step.setPage(0, i, i + 1);
            }
            runner.run(step, logits);
            if (at >= request.promptLength() - 1) {
                tokens[at + 1] = logits.choose(0, 0, sampler);
                generated.add(tokens[at + 1]);
                if (sampler.isComplete()) {
                    break;
                }
            }
        }
        return generated;
    }

    @Override
    public void close() {
        memory.close();
    }
}
