package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Requests to compiled decoders, compared with a plain loop over the largest decode function: prompts with common
 * beginnings, too few pages for all requests, cancellations, and requests with too little time.
 */
@Tag("long")
@Timeout(7200)
class GenerationMixTest {
    private static final int REQUESTS = 25;
    private static final int ROUNDS = Effort.rounds(16, 2_000);
    private static final long SEED = Effort.seed(GenerationMixTest.class, ROUNDS + " rounds", 49);
    private static final int STRIDE = 16;
    private static final int PAGES = 24;

    @ParameterizedTest
    @ValueSource(strings = {GeneratorTest.DECODER, GeneratorTest.FROM_START})
    void tokensOfARequestAreTheTokensOfAPlainLoop(String module) throws InterruptedException {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = GeneratorTest.load(runtime, module)) {
            ModelConfig config = ModelConfig.parse(module, ModelConfig.text(GeneratorTest.config(module)))
                    .withPages(PAGES);
            ModelInterface model = ModelInterface.of(program, config);
            GeneratorOptions options = GeneratorOptions.builder()
                    .config(GeneratorTest.config(module))
                    .probePrompts(1)
                    .build();
            try (CacheMemory memory = new CacheMemory(model, PAGES, 0)) {
                StepRunner runner = StepRunner.on(model, memory);
                long preemptions = 0;
                for (int round = 0; round < ROUNDS; round++) {
                    SplittableRandom random = new SplittableRandom(SEED + round);
                    List<GenerationRequest> requests = requests(random);
                    try (Generator generator = Generator.create(
                            program,
                            options.toBuilder()
                                    .pages(random.nextInt(9, 32))
                                    .chunkTokens(random.nextInt(1, 80))
                                    .hostPages(random.nextInt(2) * random.nextInt(30))
                                    .build(),
                            System::nanoTime,
                            new Speculation(random.nextInt(3) * random.nextInt(1, 12), random.nextInt(4) > 0))) {
                        Set<Integer> cancelled = new HashSet<>();
                        List<Generation> generations = new ArrayList<>();
                        for (GenerationRequest each : requests) {
                            generations.add(generator.submit(each));
                            if (random.nextInt(20) == 0) {
                                int victim = random.nextInt(generations.size());
                                cancelled.add(victim);
                                generations.get(victim).cancel();
                            } else if (random.nextInt(5) == 0 && each.timeout().isEmpty()) {
                                generations.getLast().next(); // the next request arrives during a step
                            }
                        }
                        for (int i = 0; i < REQUESTS; i++) {
                            List<Integer> tokens = tokens(generations.get(i), cancelled.contains(i));
                            if (tokens != null) {
                                assertThat(tokens)
                                        .as("request %d of round %d, seed %d", i, round, SEED)
                                        .isEqualTo(loop(model, runner, requests.get(i)));
                            }
                        }
                        preemptions += generator.statistics().preemptions();
                    }
                }
                assertThat(preemptions).as("preemptions").isPositive();
            }
        }
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

    private static List<GenerationRequest> requests(SplittableRandom random) {
        List<GenerationRequest> requests = new ArrayList<>();
        TokenConstraint words = TokenConstraint.regex(TokenVocabulary.bytes(), "[a-z]{1,4}( [é-λ]{0,9}){0,2}");
        for (int i = 0; i < REQUESTS; i++) {
            int values = random.nextInt(3) > 0 ? 256 : 1; // the decoder answers a prompt of zeros with repetitions
            int[] prompt = random.ints(random.nextInt(1, 80), 0, values).toArray();
            if (i > 0 && random.nextInt(3) > 0) {
                int[] other = requests.get(random.nextInt(i)).prompt();
                System.arraycopy(other, 0, prompt, 0, Math.min(other.length, prompt.length));
            }
            GenerationRequest request = GenerationRequest.of(random.nextInt(1, 40), prompt);
            request = request.tenant("tenant" + random.nextInt(3));
            if (random.nextBoolean()) {
                request = request.sampling(SamplingOptions.builder()
                        .temperature(0.8f)
                        .topK(20)
                        .topP(0.95f)
                        .seed(random.nextLong())
                        .repetitionPenalty(random.nextInt(3) == 0 ? 1.2f : 1)
                        .frequencyPenalty(random.nextInt(3) / 4f)
                        .build());
            }
            if (random.nextInt(4) == 0) {
                request = request.sampling(
                        request.sampling().toBuilder().constraint(words).build());
            }
            requests.add(random.nextInt(10) == 0 ? request.timeout(Duration.ofMillis(random.nextInt(20))) : request);
        }
        return requests;
    }

    /** Generates by decode steps only, in row 0. */
    private static List<Integer> loop(ModelInterface model, StepRunner runner, GenerationRequest request) {
        int[] tokens = new int[request.promptLength() + request.maximumTokens()];
        System.arraycopy(request.prompt(), 0, tokens, 0, request.promptLength());
        Sampler sampler = new Sampler(request);
        Logits logits = new Logits();
        List<Integer> generated = new ArrayList<>();
        for (int at = 0; at < tokens.length - 1; at++) {
            int columns = Math.max(2, at / STRIDE + 1);
            Step step = new Step(model.decodes().getLast(), 1, columns);
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
}
