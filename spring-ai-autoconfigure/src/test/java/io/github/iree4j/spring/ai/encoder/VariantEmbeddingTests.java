package io.github.iree4j.spring.ai.encoder;

import static io.github.iree4j.spring.test.IreeAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.FunctionVariants;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.ShapeRules;
import io.github.iree4j.Tensor;
import io.github.iree4j.VariantOptions;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.ai.HuggingFaceTextTokenizer;
import io.github.iree4j.spring.ai.TestTokenizers;
import io.github.iree4j.spring.ai.TextTokenizer.Tokens;
import io.github.iree4j.spring.test.FakePrograms;
import io.github.iree4j.spring.test.IreeTest;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.micrometer.observation.ObservationRegistry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.ai.embedding.Embedding;
import org.springframework.ai.embedding.EmbeddingResponse;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;

/** On a scripted program with variants for several shapes, see {@link ScriptedEncoder}. */
@IreeTest
@Timeout(900)
class VariantEmbeddingTests {

    private static final String[] WORDS = {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "a"};

    @SpringBootConfiguration
    @EnableAutoConfiguration
    static class Application {}

    @Autowired
    private FakePrograms scripts;

    @Autowired
    private Programs programs;

    @Autowired
    private InvocationService invocations;

    @Autowired
    private IreeRuntime runtime;

    private final HuggingFaceTextTokenizer tokenizer = TestTokenizers.bert();

    @AfterEach
    void nothingIsLeft() {
        tokenizer.close();
        while (programs.activeCalls() > 0) {
            Thread.onSpinWait(); // a cancelled call ends with its script
        }
        assertThat(runtime).hasNoOpenTensors();
        scripts.reset();
    }

    private IreeEmbeddingModel model(UnaryOperator<TestSettings> adapter) {
        TestSettings settings = adapter.apply(new TestSettings());
        return new IreeEmbeddingModel(
                programs, invocations, tokenizer, settings.settings(), ObservationRegistry.NOOP, null);
    }

    private IreeEmbeddingModel model() {
        return model(settings -> settings);
    }

    private ScriptedEncoder encoder(String... shapes) {
        return new ScriptedEncoder().variants(scripts, List.of(shapes));
    }

    private FunctionVariants variants() {
        FunctionVariants variants =
                programs.function("encoder.encode").variants().orElseThrow();
        assertThat(variants).isNotNull();
        return variants;
    }

    /** Of so many tokens, with those at start and end. */
    private static String text(int tokens) {
        return "one ".repeat(tokens - 2);
    }

    @Test
    void textsFillTheCompiledShapes() {
        ScriptedEncoder encoder = encoder("1x4", "4x4", "1x16", "4x16", "?x?");
        List<String> texts = IntStream.of(3, 14, 4, 3, 15, 4, 13, 16, 12)
                .mapToObj(VariantEmbeddingTests::text)
                .toList();
        EmbeddingResponse response = model().embedForResponse(texts);
        assertThat(encoder.shapes())
                .as("of nine texts the four short ones, four longer ones, and the longest")
                .containsExactly("4x4", "4x16", "1x16");
        assertThat(response.getResults()).extracting(Embedding::getIndex).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8);
        assertThat(variants().elements()).isEqualTo(3 * (16 + 16 + 64));
        assertThat(variants().padding())
                .as("beyond the longest text of each call")
                .isEqualTo(3 * 4);
    }

    /** The example of docs/spring-ai.md. */
    @Test
    void splitsBatchesIfThatIsCheaper() {
        List<String> shapes = Stream.of(1, 4, 16)
                .flatMap(rows -> Stream.of(16, 32, 64, 128, 256).map(length -> rows + "x" + length))
                .toList();
        ScriptedEncoder encoder = new ScriptedEncoder().variants(scripts, shapes);
        List<String> texts = IntStream.of(100, 20, 20, 20, 20, 20, 20, 100)
                .mapToObj(VariantEmbeddingTests::text)
                .toList();
        IreeEmbeddingModel model = model(settings -> {
            settings.maxTokens = 256;
            return settings;
        });
        model.embed(texts);
        assertThat(encoder.shapes()).containsExactlyInAnyOrder("4x32", "1x32", "1x32", "1x128", "1x128");
    }

    /** One by one is what a caller would do without batches. */
    @Test
    void embeddingsMatchIndividualTexts() {
        long seed = Long.getLong("iree4j.test.seed", 23);
        System.out.println("random: variants, seed " + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 60; round++) {
            Set<String> shapes = new TreeSet<>();
            for (int i = 0; i <= random.nextInt(7); i++) {
                shapes.add("%sx%s"
                        .formatted(
                                List.of("1", "2", "3", "5", "8", "?").get(random.nextInt(6)),
                                List.of("3", "4", "6", "9", "16", "?").get(random.nextInt(6))));
            }
            int longest = shapes.stream()
                    .map(shape -> shape.substring(shape.indexOf('x') + 1))
                    .mapToInt(length -> length.equals("?") ? 16 : Integer.parseInt(length))
                    .max()
                    .orElseThrow();
            ScriptedEncoder encoder = new ScriptedEncoder().variants(scripts, shapes);
            IreeEmbeddingModel model = model(settings -> {
                settings.maxBatchSize = 1 + random.nextInt(9);
                settings.maxBatchTokens = 1 + random.nextInt(80);
                return settings;
            });
            List<String> texts = new ArrayList<>();
            for (int i = random.nextInt(30); i >= 0; i--) {
                List<String> words = new ArrayList<>();
                for (int k = random.nextInt(20); k > 0; k--) {
                    words.add(WORDS[random.nextInt(WORDS.length)]);
                }
                texts.add(String.join(" ", words));
            }
            EmbeddingResponse response = model.embedForResponse(texts);
            String where = "round %d, shapes %s, %d texts".formatted(round, shapes, texts.size());
            assertThat(encoder.shapes().stream()
                                    .mapToLong(VariantEmbeddingTests::area)
                                    .sum()
                            * 3)
                    .as(where)
                    .isEqualTo(variants().elements());
            long used = 0;
            int truncated = 0;
            for (int i = 0; i < texts.size(); i++) {
                Tokens all = tokenizer.tokenize(texts.get(i));
                Tokens kept = all.cut(longest);
                used += kept.size();
                truncated += all.size() > longest ? 1 : 0;
                Embedding embedding = response.getResults().get(i);
                assertThat(embedding.getIndex()).isEqualTo(i);
                assertThat(embedding.getOutput())
                        .as("text %d, %s", i, where)
                        .containsExactly(
                                (float) Arrays.stream(kept.ids()).average().orElseThrow(), (kept.size() - 1) / 2f, 1)
                        .containsExactly(model.embed(texts.get(i)));
            }
            assertThat(response.getMetadata().getUsage().getPromptTokens()).isEqualTo((int) used);
            assertThat(response.getMetadata().<Integer>get("truncated")).isEqualTo(truncated);
            scripts.reset();
        }
    }

    private static long area(String shape) {
        return Arrays.stream(shape.split("x")).mapToLong(Long::parseLong).reduce(1, (a, b) -> a * b);
    }

    @Test
    void tenThousandTextsAreBatchedAndReturnedInOrder() {
        ScriptedEncoder encoder = encoder("1x4", "64x4", "64x8");
        IreeEmbeddingModel model = model(settings -> {
            settings.maxRequestSize = 10_000;
            return settings;
        });
        List<String> texts =
                IntStream.range(0, 10_000).mapToObj(i -> text(3 + i * 7919 % 6)).toList();
        EmbeddingResponse response = model.embedForResponse(texts);
        assertThat(encoder.shapes()).hasSizeBetween(157, 160);
        assertThat(response.getResults()).hasSize(10_000);
        for (int i = 0; i < 10_000; i++) {
            assertThat(response.getResults().get(i).getOutput()[1]).isEqualTo((2 + i * 7919 % 6) / 2f);
        }
    }

    @Test
    void textsBeyondAllShapesAreTruncated() {
        ScriptedEncoder encoder = encoder("1x4", "2x8");
        EmbeddingResponse response = model().embedForResponse(List.of(text(12)));
        assertThat(encoder.shapes()).containsExactly("2x8");
        assertThat(response.getMetadata().getUsage().getPromptTokens()).isEqualTo(8);
        assertThat(response.getMetadata().<Integer>get("truncated")).isEqualTo(1);
        IreeEmbeddingModel more = model(settings -> {
            settings.maxTokens = 9;
            return settings;
        });
        assertRefused(more::check, StatusCode.FAILED_PRECONDITION, "it takes 8 tokens of a text");
    }

    /** As programs that come from PyTorch and ONNX are: names say the shapes, rules the types. */
    @Test
    void undeclaredVariantsAreFilledToo() {
        ScriptedEncoder encoder = new ScriptedEncoder();
        scripts.program("encoder", program -> {
            for (String shape : List.of("2x4", "2x8")) {
                program.function("main_" + shape, "(!vm.ref<?>, !vm.ref<?>, !vm.ref<?>) -> !vm.ref<?>")
                        .answers(inputs -> List.of(encoder.encode(
                                (Tensor) inputs.get(0), (Tensor) inputs.get(1), (Tensor) inputs.get(2))));
            }
            program.variants(VariantOptions.of(
                            "encode",
                            ShapeRules.parse(
                                    "[texts tokens] i64, [texts tokens] i64 mask, [texts tokens] i64 -> [texts tokens 3]"))
                    .functions("main_{texts}x{tokens}"));
        });
        IreeEmbeddingModel model = model(settings -> {
            settings.inputs = List.of(TokenInput.INPUT_IDS, TokenInput.ATTENTION_MASK, TokenInput.TOKEN_TYPE_IDS);
            settings.pooling = Pooling.MEAN;
            return settings;
        });
        assertThat(model.embed(List.of(text(7), text(3), text(4))).get(1)).containsExactly(5, 1, 1);
        assertThat(encoder.shapes()).containsExactly("2x4", "2x8");
    }

    @Test
    void rejectsPadToWithVariants() {
        encoder("1x4", "?x?");
        IreeEmbeddingModel model = model(settings -> {
            settings.padTo = List.of(8);
            return settings;
        });
        assertRefused(model::check, StatusCode.FAILED_PRECONDITION, "remove iree.ai.embedding.pad-to");
    }

    @Test
    void rejectsVariantsWithDifferentRulesPerArgument() {
        scripts.program("encoder", program -> {
            program.function("encode_1", "(tensor<2x4xi64>, tensor<2x4xi64>) -> tensor<2x3xf32>");
            program.variants(
                    VariantOptions.of("encode", ShapeRules.parse("[batch length], [batch words] mask -> [batch 3]"))
                            .functions("encode_1"));
        });
        assertRefused(
                model()::check,
                StatusCode.FAILED_PRECONDITION,
                "the shape rules [batch length], [batch words] mask -> [batch 3] differ between arguments");
    }

    @Test
    void cancelledRequestLeavesNothingOpen() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        ScriptedEncoder encoder = new ScriptedEncoder();
        scripts.program("encoder", program -> {
            for (String shape : List.of("1x4", "2x8")) {
                String argument = "tensor<%sxi64>".formatted(shape);
                program.function(
                                "encode_" + shape,
                                "(%s, %s, %s) -> tensor<%sx3xf32>".formatted(argument, argument, argument, shape))
                        .answers(inputs -> {
                            if (shape.equals("2x8")) {
                                entered.countDown();
                                stayUntilInterrupted();
                            }
                            return List.of(encoder.encode(
                                    (Tensor) inputs.get(0), (Tensor) inputs.get(1), (Tensor) inputs.get(2)));
                        });
            }
            program.variants(VariantOptions.of("encode", ShapeRules.parse(ScriptedEncoder.RULES))
                    .functions("encode_*"));
        });
        IreeEmbeddingModel model = model(settings -> {
            settings.inputs = List.of(TokenInput.INPUT_IDS, TokenInput.ATTENTION_MASK, TokenInput.TOKEN_TYPE_IDS);
            return settings;
        });
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread caller = Thread.ofVirtual().start(() -> {
            try {
                model.embed(List.of(text(3), text(7), text(8), text(7), text(8)));
            } catch (IreeException e) {
                failure.set(e);
            }
        });
        entered.await();
        caller.interrupt();
        caller.join();
        assertThat(failure.get())
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.CANCELLED));
        assertThat(encoder.shapes()).as("the third call is not made").hasSizeLessThan(3);
        assertThat(model.embed(text(3))).as("the next request").hasSize(3);
    }

    private static void stayUntilInterrupted() {
        while (!Thread.currentThread().isInterrupted()) {
            LockSupport.park();
        }
    }

    private static void assertRefused(Runnable what, StatusCode code, String problem) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(what::run)
                .withMessageContaining(problem)
                .satisfies(e -> assertThat(e.code()).isEqualTo(code));
    }
}
