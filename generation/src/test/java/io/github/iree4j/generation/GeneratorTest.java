package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Fixtures;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.generation.sampling.SamplingOptions;
import io.github.iree4j.generation.sampling.TokenConstraint;
import io.github.iree4j.generation.sampling.TokenVocabulary;
import io.github.iree4j.status.InvalidInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Generation by compiled decoders, see {@code fixtures/generation}. */
@Timeout(120)
class GeneratorTest {
    static final String DECODER = "3.13.0/generation/decoder.vmfb";
    static final String TOP_ONE = "3.13.0/generation/decoder_top_one.vmfb";
    static final String TOP_FOUR = "3.13.0/generation/decoder_top_four.vmfb";
    static final String LAST_LOGITS = "3.13.0/generation/decoder_last_logits.vmfb";
    static final String FROM_START = "3.13.0/generation/decoder_from_start.vmfb";

    @TempDir
    private Path folder;

    static Path config(String module) {
        return Fixtures.DIRECTORY.resolve(
                switch (module) {
                    case FROM_START -> "generation/decoder_from_start.json";
                    case TOP_ONE -> "generation/decoder_top_one.json";
                    case TOP_FOUR -> "generation/decoder_top_four.json";
                    case LAST_LOGITS -> "generation/decoder_last_logits.json";
                    default -> "generation/decoder.json";
                });
    }

    static Program load(IreeRuntime runtime, String module) {
        return runtime.load(ProgramOptions.builder()
                .module(Fixtures.file(module))
                .parameters("model", Fixtures.file("decoder.irpa"))
                .name("chat")
                .build());
    }

    /** Greedy tokens computed by {@code decode_bs1} with IREE's Python runtime 3.13.0. */
    @ParameterizedTest
    @ValueSource(strings = {DECODER, FROM_START, TOP_ONE, TOP_FOUR, LAST_LOGITS, "3.11.0/generation/decoder.vmfb"})
    void tokensAreTheTokensOfIreesRuntime(String module) {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = load(runtime, module);
                Generator generator = Generator.create(
                        program,
                        GeneratorOptions.builder()
                                .config(config(module))
                                .pages(64)
                                .build())) {
            assertThat(generator.vocabulary()).isEqualTo(module.equals(TOP_ONE) || module.equals(TOP_FOUR) ? 0 : 256);
            Generation hello = generator.submit(GenerationRequest.of(24, 72, 101, 108, 108, 111));
            Generation zero = generator.submit(GenerationRequest.of(12, 0));
            assertThat(hello.result().await().tokens())
                    .containsExactly(
                            210, 15, 65, 165, 105, 49, 43, 20, 31, 249, 31, 249, 150, 7, 57, 170, 42, 67, 41, 203, 232,
                            105, 59, 158);
            assertThat(zero.result().await().tokens())
                    .containsExactly(44, 44, 44, 229, 229, 229, 229, 229, 229, 229, 150, 62);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {DECODER, "3.11.0/generation/decoder.vmfb"})
    void proposedTokensChangeNoToken(String module) {
        GeneratorOptions options =
                GeneratorOptions.builder().config(config(module)).build();
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = load(runtime, module);
                Generator plain = Generator.create(program, options);
                Generator proposing = Generator.create(
                        program, options, System::nanoTime, new HastyAdmission(), new EveryProposal(8))) {
            List<Generation> expected = new ArrayList<>();
            List<Generation> proposed = new ArrayList<>();
            for (int prompt = 0; prompt < 8; prompt++) {
                GenerationRequest request = GenerationRequest.of(200, prompt, prompt);
                expected.add(plain.submit(request));
                proposed.add(proposing.submit(request));
            }
            for (int prompt = 0; prompt < 8; prompt++) {
                assertThat(proposed.get(prompt).result().await().tokens())
                        .isEqualTo(expected.get(prompt).result().await().tokens());
            }
            GeneratorStatistics statistics = proposing.statistics();
            assertThat(statistics.acceptedTokens()).isBetween(10L, statistics.proposedTokens() - 10);
        }
    }

    /** Generates with proposals of a draft, compares the tokens with plain decoding, and returns the statistics. */
    private static GeneratorStatistics drafted(Program program, Program draft) {
        GeneratorOptions plain =
                GeneratorOptions.builder().config(config(DECODER)).build();
        GeneratorOptions drafting = plain.toBuilder()
                .proposedTokens(4)
                .draft(draft)
                .draftConfig(config(DECODER))
                .build();
        try (Generator alone = Generator.create(program, plain);
                Generator generator = Generator.create(
                        program, drafting, System::nanoTime, new HastyAdmission(), new EveryProposal(4))) {
            assertThat(alone.description()).doesNotContain("draft");
            assertThat(generator.description()).contains("the draft 'chat' proposes tokens, up to 1009 tokens");
            List<Generation> expected = new ArrayList<>();
            List<Generation> drafted = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                int[] prompt = IntStream.range(0, 5 + 10 * i)
                        .map(each -> each * 7 % 256)
                        .toArray();
                GenerationRequest request = GenerationRequest.of(61, prompt);
                expected.add(alone.submit(request));
                drafted.add(generator.submit(request));
            }
            for (int i = 0; i < 8; i++) {
                assertThat(drafted.get(i).result().await().tokens())
                        .isEqualTo(expected.get(i).result().await().tokens());
            }
            generator.snapshot().await(); // after the last step
            return generator.statistics();
        }
    }

    @Test
    void aDraftWithTheSameParametersProposesTheTokensOfTheModel() {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = load(runtime, DECODER)) {
            GeneratorStatistics statistics = drafted(program, program);
            assertThat(statistics.acceptedTokens())
                    .isEqualTo(statistics.proposedTokens())
                    .isEqualTo(8 * 48);
        }
    }

    @Test
    void aDraftWithOtherParametersChangesNoToken() throws IOException {
        byte[] parameters = Files.readAllBytes(Fixtures.file("decoder.irpa"));
        for (int i = parameters.length / 2; i < parameters.length; i += 64) {
            parameters[i + 1] ^= (byte) 0x80; // the sign of an f16, or the second of eight bits of an f32's fraction
        }
        Path other = Files.write(folder.resolve("other.irpa"), parameters);
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = load(runtime, DECODER);
                Program draft = runtime.load(ProgramOptions.builder()
                        .module(Fixtures.file(DECODER))
                        .parameters("model", other)
                        .name("chat")
                        .build())) {
            GeneratorStatistics statistics = drafted(program, draft);
            assertThat(statistics.acceptedTokens()).isBetween(1L, statistics.proposedTokens() / 2);
        }
    }

    @Test
    void aClosedDraftProposesNothingAnyMore() {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = load(runtime, DECODER)) {
            Program draft = load(runtime, DECODER);
            GeneratorOptions options = GeneratorOptions.builder()
                    .config(config(DECODER))
                    .proposedTokens(4)
                    .draft(draft)
                    .draftConfig(config(DECODER))
                    .build();
            try (Generator generator =
                    Generator.create(program, options, System::nanoTime, new HastyAdmission(), new EveryProposal(4))) {
                GenerationRequest request = GenerationRequest.of(21, 1, 2, 3);
                List<Integer> before =
                        generator.submit(request).result().await().tokens();
                generator.snapshot().await(); // after the last step
                long proposed = generator.statistics().proposedTokens();
                assertThat(proposed).isPositive();
                draft.close();
                assertThat(generator.submit(request).result().await().tokens()).isEqualTo(before);
                generator.snapshot().await();
                assertThat(generator.statistics().proposedTokens()).isEqualTo(proposed);
            }
        }
    }

    @Test
    void anUnsuitableDraftIsRejectedWithNumbers() {
        GeneratorOptions options = GeneratorOptions.builder()
                .config(config(DECODER))
                .proposedTokens(4)
                .build();
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = load(runtime, DECODER);
                Program fromStart = load(runtime, FROM_START)) {
            long before = runtime.device().allocator().statistics().bytesLive();
            assertThatThrownBy(() ->
                            options.toBuilder().proposedTokens(0).draft(program).build())
                    .isInstanceOf(InvalidInputException.class)
                    .hasMessageContaining("a draft is set, but proposed tokens is 0");
            assertThatThrownBy(() -> Generator.create(
                            program,
                            options.toBuilder()
                                    .draft(fromStart)
                                    .draftConfig(config(FROM_START))
                                    .build()))
                    .isInstanceOf(InvalidInputException.class)
                    .hasMessageContaining("the draft 'chat' has prefill functions without start_pos");
            GeneratorOptions unconfigured = options.toBuilder().draft(program).build();
            assertThatThrownBy(() -> Generator.create(program, unconfigured))
                    .isInstanceOf(InvalidInputException.class)
                    .hasMessageContaining(
                            "a page of the draft 'chat' has 32 tokens, and a page of 'chat' has 16; set the configuration of both");
            ModelConfig config = ModelConfig.parse(DECODER, ModelConfig.text(config(DECODER)));
            ModelInterface model = ModelInterface.of(program, config);
            ModelInterface larger = new ModelInterface(
                    program, model.prefills(), model.decodes(), model.functions(), Map.of(), true, model.caches(), 300);
            GeneratorOptions fitting =
                    unconfigured.toBuilder().draftConfig(config(DECODER)).build();
            assertThatThrownBy(() -> DraftModel.of(fitting, larger, config))
                    .isInstanceOf(InvalidInputException.class)
                    .hasMessageContaining("the draft 'chat' has 256 tokens, and 'chat' has 300");
            assertThat(runtime.device().allocator().statistics().bytesLive()).isEqualTo(before);
            try (Generator generator = Generator.create(program, fitting)) {
                generator.submit(GenerationRequest.of(20, 1)).result().await();
            }
            assertThat(runtime.device().allocator().statistics().bytesLive())
                    .as("both caches are freed")
                    .isEqualTo(before);
        }
    }

    @Test
    void stepsAheadChangeNoToken() {
        GeneratorOptions options =
                GeneratorOptions.builder().config(config(TOP_ONE)).pages(40).build();
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = load(runtime, TOP_ONE);
                Generator plain = Generator.create(program, options);
                Generator ahead = Generator.create(
                        program,
                        options.toBuilder().stepsAhead(5).build(),
                        System::nanoTime,
                        new HastyAdmission(),
                        new Speculation(0))) {
            assertThat(plain.description()).contains("one after the other");
            assertThat(ahead.description()).contains("up to 5 decode steps are submitted at once");
            List<Generation> expected = new ArrayList<>();
            List<Generation> generations = new ArrayList<>();
            for (int prompt = 0; prompt < 24; prompt++) {
                GenerationRequest request = GenerationRequest.of(90 + 10 * prompt, prompt, 3, prompt)
                        .stopAt(Set.of(7 * prompt));
                expected.add(plain.submit(request));
                generations.add(ahead.submit(request));
            }
            for (int prompt = 0; prompt < 24; prompt++) {
                assertThat(generations.get(prompt).result().await().tokens())
                        .isEqualTo(expected.get(prompt).result().await().tokens());
            }
            assertThat(ahead.statistics().preemptions()).as("pages are short").isPositive();
        }
    }

    @Test
    void aProgramWithASingleCandidateRefusesImpossibleOptions() {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = load(runtime, TOP_ONE);
                Generator generator = Generator.create(
                        program,
                        GeneratorOptions.builder().config(config(TOP_ONE)).build())) {
            for (SamplingOptions each : List.of(
                    SamplingOptions.builder().temperature(0.5f).build(),
                    SamplingOptions.builder().logitBias(Map.of(1, 1f)).build(),
                    SamplingOptions.builder().repetitionPenalty(1.5f).build(),
                    SamplingOptions.builder().frequencyPenalty(1).build(),
                    SamplingOptions.builder().presencePenalty(1).build(),
                    SamplingOptions.builder().logProbabilities(0).build(),
                    SamplingOptions.builder()
                            .constraint(TokenConstraint.regex(TokenVocabulary.bytes(), "a"))
                            .build())) {
                assertThatThrownBy(() ->
                                generator.submit(GenerationRequest.of(1, 5).sampling(each)))
                        .isInstanceOf(InvalidInputException.class)
                        .hasMessageContaining("cannot be followed: 'chat' is compiled with top_k 1");
            }
            SamplingOptions greedy = SamplingOptions.builder()
                    .topK(5)
                    .topP(0.5f)
                    .minP(0.1f)
                    .seed(3)
                    .build();
            Generation answer = generator.submit(GenerationRequest.of(4, 0).sampling(greedy));
            assertThat(answer.result().await().tokens()).containsExactly(44, 44, 44, 229);
        }
    }

    @Test
    void stepsOfAProgramReturningLogitsDoNotRunAhead() {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = load(runtime, DECODER);
                Generator generator = Generator.create(
                        program,
                        GeneratorOptions.builder()
                                .config(config(DECODER))
                                .stepsAhead(5)
                                .build())) {
            assertThat(generator.description())
                    .contains("one after the other: steps ahead need a program with top_k 1");
            assertThat(generator
                            .submit(GenerationRequest.of(4, 0))
                            .result()
                            .await()
                            .tokens())
                    .containsExactly(44, 44, 44, 229);
        }
    }

    @Test
    void onlyReadLogitsAreCopied() {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = load(runtime, DECODER)) {
            ModelConfig config = ModelConfig.parse(DECODER, ModelConfig.text(config(DECODER)))
                    .withPages(40);
            ModelInterface model = ModelInterface.of(program, config);
            try (CacheMemory memory = new CacheMemory(model, 40, 0)) {
                Sequence sequence = new Sequence(new Generation(
                        GenerationRequest.of(1, IntStream.range(0, 100).toArray()), 0, 0));
                IntStream.range(1, 8).forEach(sequence::addPage);
                Step step = new Step(model.prefills().getLast(), 112, 7);
                step.add(sequence, 100);
                Logits last = new Logits();
                Logits all = new Logits(true);
                StepRunner runner = StepRunner.on(model, memory);
                runner.run(step, last);
                runner.run(step, all);
                assertThat(last.bytes(0, 99).mismatch(all.bytes(0, 99))).isEqualTo(-1);
                assertThat(last.bytesKept()).isEqualTo(256L * Float.BYTES);
                assertThat(all.bytesKept()).isEqualTo(100L * 256 * Float.BYTES);
            }
        }
    }

    @Test
    void aStepCopiesNoCache() {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = load(runtime, DECODER);
                Generator generator = Generator.create(
                        program,
                        GeneratorOptions.builder()
                                .config(config(DECODER))
                                .pages(20_000)
                                .build())) {
            generator.submit(GenerationRequest.of(20, 1, 2, 3)).result().await();
            long live = runtime.device().allocator().statistics().bytesLive();
            assertThat(live).as("cache").isGreaterThan(20_000L * 4096);
            assertThat(runtime.device().allocator().statistics().bytesPeak() - live)
                    .as("memory of steps")
                    .isLessThan(20_000L * 4096 / 4);
        }
    }

    @Test
    void aReaderReceivesEachTokenOnceAndThenTheEnd() throws InterruptedException {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = load(runtime, DECODER);
                Generator generator = Generator.create(
                        program,
                        GeneratorOptions.builder().config(config(DECODER)).build())) {
            Generation generation = generator.submit(GenerationRequest.of(10, 7));
            List<Integer> tokens = new ArrayList<>();
            for (OptionalInt next = generation.next(); next.isPresent(); next = generation.next()) {
                tokens.add(next.getAsInt());
            }
            assertThat(tokens).isEqualTo(generation.result().await().tokens()).hasSize(10);
        }
    }

    @Test
    void aTooLargeRequestIsRejectedWithNumbers() throws IOException {
        Path small = Files.writeString(
                folder.resolve("config.json"),
                "{\"max_seq_len\": 128, \"paged_kv_cache\": {\"block_seq_stride\": 16, \"device_block_count\": 100}}");
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = load(runtime, DECODER)) {
            GeneratorOptions options = GeneratorOptions.builder().config(small).build();
            try (Generator generator = Generator.create(program, options)) {
                assertThat(generator
                                .submit(GenerationRequest.of(112, 1))
                                .result()
                                .await()
                                .tokens())
                        .hasSize(112);
                assertThatThrownBy(() -> generator.submit(GenerationRequest.of(113, 1)))
                        .isInstanceOf(InvalidInputException.class)
                        .hasMessageContaining("need 8 pages of 16 tokens; a sequence of 'chat' has at most 7")
                        .hasMessageContaining("max_seq_len is 128")
                        .hasMessageContaining("request at most 112 tokens");
                assertThatThrownBy(() -> generator.submit(GenerationRequest.of(1, 5, 256)))
                        .hasMessageContaining("the prompt has token 256; tokens of 'chat' are from 0 to 255");
                SamplingOptions biased =
                        SamplingOptions.builder().logitBias(Map.of(256, 1f)).build();
                assertThatThrownBy(() ->
                                generator.submit(GenerationRequest.of(1, 5).sampling(biased)))
                        .hasMessageContaining("token 256 has a bias; tokens of 'chat' are from 0 to 255");
                SamplingOptions foreign = SamplingOptions.builder()
                        .constraint(TokenConstraint.regex(
                                TokenVocabulary.of(Collections.nCopies(257, new byte[] {'a'})), "a"))
                        .build();
                assertThatThrownBy(() ->
                                generator.submit(GenerationRequest.of(1, 5).sampling(foreign)))
                        .hasMessageContaining("the constraint has texts of 257 tokens; 'chat' has 256 tokens");
                assertThatThrownBy(() -> generator.submit(GenerationRequest.of(1, -1)))
                        .hasMessageContaining("the prompt has token -1");
            }
            try (Generator generator =
                    Generator.create(program, options.toBuilder().pages(4).build())) {
                assertThatThrownBy(() -> generator.submit(GenerationRequest.of(49, 1)))
                        .hasMessageContaining("a sequence of 'chat' has at most 3 (the cache has 4 pages");
            }
            assertThatThrownBy(() -> Generator.create(
                            program, options.toBuilder().pages(2).build()))
                    .hasMessageContaining("give the cache at least 3 pages");
        }
    }

    @Test
    void aSequenceOfAModelOfUnknownLengthHasTwoPages() {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = load(runtime, DECODER);
                Generator generator = Generator.create(
                        program,
                        GeneratorOptions.builder()
                                .config("config", "{\"paged_kv_cache\": {\"block_seq_stride\": 16}}")
                                .build())) {
            assertThatThrownBy(() -> generator.submit(GenerationRequest.of(33, 1)))
                    .hasMessageContaining("has at most 2 (the configuration gives no max_seq_len");
        }
    }

    @Test
    void aProgramWithAnotherInterfaceIsRejectedByName() throws IOException {
        Path wrong = Files.writeString(folder.resolve("config.json"), "{\"has_prefill_position\": true}");
        Path missing = Files.writeString(folder.resolve("bs.json"), "{\"decode_batch_sizes\": [4, 16]}");
        try (IreeRuntime runtime = IreeRuntime.create();
                Program add = runtime.load(Fixtures.file("3.13.0/cpu/add.vmfb"));
                Program program = load(runtime, FROM_START)) {
            assertThatThrownBy(() -> Generator.create(add, GeneratorOptions.DEFAULTS))
                    .hasMessageContaining("has no function prefill_bs{N} for text generation; its functions are [add]");
            assertThatThrownBy(() -> Generator.create(
                            program, GeneratorOptions.builder().config(wrong).build()))
                    .hasMessageContaining("takes 3 inputs before the caches, but has_prefill_position");
            assertThatThrownBy(() -> Generator.create(
                            program, GeneratorOptions.builder().config(missing).build()))
                    .hasMessageContaining("has no function decode_bs[16]");
        }
    }

    @Test
    void everyPageIsFreedWithTheGenerator() {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = load(runtime, DECODER)) {
            long before = runtime.device().allocator().statistics().bytesLive();
            try (Generator generator = Generator.create(
                    program, GeneratorOptions.builder().config(config(DECODER)).build())) {
                generator.submit(GenerationRequest.of(500, 1)); // closed in the middle
            }
            assertThat(runtime.device().allocator().statistics().bytesLive()).isEqualTo(before);
        }
    }
}
