package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.monitor.VariantListener;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A program compiled for some shapes and for any: padded calls give the same results as the variant for any shape. */
class VariantsTest {
    private static final ShapeRules RULES =
            ShapeRules.parse("[batch length] fill=1, [batch length] mask -> [batch length], [batch 4]");

    private final IreeRuntime runtime = IreeRuntime.create();
    private final List<String> heard = new ArrayList<>();

    @AfterEach
    void nothingIsLeft() {
        runtime.close();
        LeakCheck.assertNone(runtime);
    }

    private static ProgramOptions.Builder options(String target) {
        return ProgramOptions.builder()
                .module(Fixtures.file("3.13.0/" + target + "/variants.vmfb"))
                .parameters("model", Fixtures.file("scale_weights.irpa"));
    }

    private Program load(VariantOptions variants) {
        return runtime.load(options("cpu")
                .variants(variants)
                .variantListener(new VariantListener() {
                    @Override
                    public void called(String consumer, String function, String variant, long elements, long padding) {
                        heard.add(
                                "%s.%s by %s: %d, %d added".formatted(consumer, function, variant, elements, padding));
                    }

                    @Override
                    public void aligned(String consumer, String function, long padding) {
                        heard.add("%s.%s aligned: %d added".formatted(consumer, function, padding));
                    }
                })
                .build());
    }

    /** A program with functions for some shapes only. */
    private Program staticOnly() {
        return load(VariantOptions.of("sentences", RULES).functions("encode_*"));
    }

    private static float[] values(Random random, int count) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (random.nextInt(33) - 16) / 4f;
        }
        return values;
    }

    private static float[][] read(Results results) {
        try (results) {
            return new float[][] {
                results.tensor(0).toFloatArray(), results.tensor(1).toFloatArray()
            };
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"cpu", "vmvx"})
    void aPaddedCallGivesTheResultsOfTheProgramForAnyShape(String target) {
        Random random = new Random(Effort.seed(VariantsTest.class, "shapes", 16));
        try (Program program = runtime.load(options(target)
                .variants(VariantOptions.of("sentences", RULES).functions("module.encode_*"))
                .build())) {
            ProgramFunction any = open(program);
            ProgramFunction padded = program.function("sentences");
            for (int round = 0; round < Effort.rounds(200); round++) {
                int batch = random.nextInt(5);
                int length = 1 + random.nextInt(8);
                float[] words = values(random, batch * length);
                int[] mask = new int[batch * length];
                for (int i = 0; i < mask.length; i++) {
                    mask[i] = random.nextInt(4) == 0 ? 0 : 1;
                }
                try (Tensor x = Tensor.of(words, batch, length);
                        Tensor m = Tensor.of(mask, batch, length)) {
                    Results results = round % 2 == 0
                            ? padded.invoke(x, m)
                            : padded.invokeAsync(x, m).join();
                    assertThat(results.tensor(0).shape()).isEqualTo(Shape.of(batch, length));
                    assertThat(results.tensor(1).shape()).isEqualTo(Shape.of(batch, 4));
                    assertThat(read(results)).as("%d x %d", batch, length).isDeepEqualTo(read(any.invoke(x, m)));
                }
            }
        }
    }

    private static ProgramFunction open(Program program) {
        ProgramFunction encode = program.function("encode");
        FunctionVariants variants = encode.variants().orElseThrow();
        if (variants == null) {
            return encode;
        }
        return variants.all().stream()
                .filter(each -> each.sizes().containsValue(-1L))
                .findFirst()
                .orElseThrow()
                .function();
    }

    @Test
    void rulesDeclaredByTheModuleNeedNoOptions() {
        try (Program program = runtime.load(options("cpu").build())) {
            ProgramFunction encode = program.function("encode");
            assertThat(program.functions()).containsExactly(encode);
            FunctionVariants variants = encode.variants().orElseThrow();
            assertThat(variants).isNotNull();
            assertThat(variants.rules()).isEqualTo(RULES);
            assertThat(variants.all()).hasSize(5);
            assertThat(encode.declaration())
                    .contains("tensor<?x?xf32>", "tensor<?x4xf32>")
                    .contains("one of 5 by shape");
            assertThat(program.function("encode_4x8").variants()).isEmpty();
        }
    }

    @Test
    void theLeastPaddingIsChosenAndTheFunctionForAnyShapeWhenCheaper() {
        try (Program program = load(VariantOptions.of("encode", RULES))) {
            ProgramFunction encode = program.function("encode");
            for (int[] shape : new int[][] {{1, 4}, {1, 3}, {2, 4}, {3, 5}, {1, 1}, {5, 1}, {1, 9}, {4, 8}}) {
                encode.invoke(new float[shape[0]][shape[1]], new int[shape[0]][shape[1]])
                        .close();
            }
            assertThat(heard)
                    .containsExactly(
                            "variants.encode by encode_1x4: 8, 0 added",
                            "variants.encode by encode_1x4: 8, 2 added",
                            "variants.encode by encode_4x4: 32, 16 added",
                            "variants.encode by encode_4x8: 64, 34 added",
                            "variants.encode by encode_1x4: 8, 6 added",
                            "variants.encode by encode: 10, 0 added",
                            "variants.encode by encode: 18, 0 added",
                            "variants.encode by encode_4x8: 64, 0 added");
            FunctionVariants variants = encode.variants().orElseThrow();
            assertThat(variants).isNotNull();
            assertThat(variants.elements()).isEqualTo(212);
            assertThat(variants.padding()).isEqualTo(58);
            assertThat(variants.all().stream().mapToLong(FunctionVariant::calls))
                    .containsExactly(2L, 3L, 1L, 0L, 2L);
        }
    }

    @Test
    void noCallIsPaddedAlongAnExactAxis() {
        ShapeRules exact = ShapeRules.parse(RULES.toString().replace("length", "length!"));
        try (Program program = load(VariantOptions.of("encode", exact))) {
            ProgramFunction encode = program.function("encode");
            for (int[] shape : new int[][] {{1, 4}, {1, 3}, {2, 4}, {2, 5}}) {
                encode.invoke(new float[shape[0]][shape[1]], new int[shape[0]][shape[1]])
                        .close();
            }
            assertThat(heard)
                    .containsExactly(
                            "variants.encode by encode_1x4: 8, 0 added",
                            "variants.encode by encode: 6, 0 added",
                            "variants.encode by encode_4x4: 32, 16 added",
                            "variants.encode by encode: 20, 0 added");
        }
        try (Program program = load(VariantOptions.of("encode", exact).functions("encode_*"))) {
            assertThatThrownBy(() -> program.function("encode").invoke(new float[1][3], new int[1][3]))
                    .hasMessageContaining("batch 1, length 3; there are batch x length! of 1x4, ");
        }
    }

    @Test
    void openDimensionsCostAsConfigured() {
        try (Program program = load(VariantOptions.of("encode", RULES).dynamicCost(1))) {
            program.function("encode").invoke(new float[3][5], new int[3][5]).close();
            assertThat(heard).containsExactly("variants.encode by encode: 30, 0 added");
        }
    }

    @Test
    void omittedMasksNameTheGivenInputs() {
        try (Program program = staticOnly()) {
            ProgramFunction sentences = program.function("sentences");
            float[][] words = {{1, 2, 3}, {4, 5, 6}};
            float[][] sums = {{7, 8, 9, 19, 20, 21}, {12, 12, 12, 12, 30, 30, 30, 30}};
            assertThat(read(sentences.invoke((Object) words))).isDeepEqualTo(sums);
            assertThat(read(sentences.invoke(words, null))).isDeepEqualTo(sums);
            assertThat(read(sentences.invoke((Object) new float[][] {{1, 2, 3, 4}})))
                    .as("exactly the shape of one")
                    .isDeepEqualTo(new float[][] {{11, 12, 13, 14}, {20, 20, 20, 20}});
        }
    }

    @Test
    void tooLargeACallIsRefusedNamingTheVariants() {
        try (Program program = staticOnly()) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("sentences").invoke((Object) new float[5][9]))
                    .withMessage(
                            "no variant of 'module.sentences' is large enough for batch 5, length 9; there are batch x length of 1x4, 4x4, 1x8, 4x8: make the call smaller, or compile a variant that is large enough, or one for any size")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
        }
    }

    @Test
    void unsuitableInputsAreRefusedBeforeAnyCall() {
        try (Program program = staticOnly()) {
            ProgramFunction sentences = program.function("sentences");
            String where = "of function 'module.sentences'";
            refused(
                    sentences,
                    "argument 1 'input1' " + where + " has length 2, and argument 0 has 3",
                    new float[2][3],
                    new int[2][2]);
            refused(sentences, "takes 2 arguments, or 1 without masks; given 3", 1, 2, 3);
            refused(sentences, "argument 0 'input0' " + where + " is tensor<?x?xf32>; given null", null, new int[2][2]);
            refused(sentences, "is tensor<?x?xf32>; given 2x2xi32", Tensor.of(new int[4], 2, 2), new int[2][2]);
            refused(sentences, "is tensor<?x?xf32>; given 4xf32", Tensor.of(new float[4]), new int[2][2]);
            refused(
                    sentences,
                    "argument 0 'input0' " + where + ": a flat array does not say",
                    new float[4],
                    new int[2][2]);
            assertThat(heard).isEmpty();
        }
    }

    /** An axis of masks alone is known from masks only. */
    @Test
    void aMaskWithAnAxisOfItsOwnCannotBeLeftOut() {
        ShapeRules rules = ShapeRules.parse("[batch 4], [batch length] mask -> [batch 4], [batch 4]");
        VariantOptions options = VariantOptions.of("square", rules).functions("encode_*x4");
        try (Program program = load(options)) {
            ProgramFunction square = program.function("square");
            String said =
                    "argument 1 'input1' of function 'module.square' is a mask that cannot be omitted: no other argument has axis 'length'";
            refused(square, said, Tensor.of(new float[4], 1, 4));
            refused(square, said, Tensor.of(new float[4], 1, 4), null);
        }
    }

    private static void refused(ProgramFunction function, String said, @Nullable Object... inputs) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> function.invoke(inputs))
                .withMessageContaining(said)
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
    }

    @Test
    void aClosedInputIsNotRead() {
        try (Program program = staticOnly()) {
            Tensor closed = Tensor.of(new float[3], 1, 3);
            closed.close();
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("sentences").invoke((Object) closed))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.FAILED_PRECONDITION));
        }
    }

    @Test
    void leadingResultsAreCutInPlaceAndMayBeInputs() {
        try (Program program = staticOnly();
                Results results =
                        program.function("sentences").invoke((Object) new float[][] {{1, 2, 3, 4}, {5, 6, 7, 8}});
                Tensor rows = results.take(0);
                Results again = program.function("sentences").invoke((Object) rows)) {
            assertThat(rows.shape()).isEqualTo(Shape.of(2, 4));
            assertThat(rows.elements().view().buffer().length())
                    .as("the four rows of the variant")
                    .isEqualTo(4 * 4 * 4);
            assertThat(again.tensor(1).toFloatArray()).containsExactly(100, 100, 100, 100, 260, 260, 260, 260);
        }
    }

    @Test
    void aTensorGivenAwayBelongsToTheCallWhetherCopiedOrNot() {
        try (Program program = staticOnly()) {
            ProgramFunction sentences = program.function("sentences");
            for (int length : new int[] {3, 4}) {
                Tensor given = runtime.upload(Tensor.of(new float[length], 1, length));
                refused(sentences, "has length 1", given.transfer(), new int[1][1]);
                assertThat(given.isClosed()).as("nothing was taken").isFalse();
                sentences.invoke((Object) given.transfer()).close();
                assertThat(given.isClosed()).isTrue();
            }
        }
    }

    @Test
    void callsWithFencesGoWhereNothingIsAdded() {
        try (Program program = load(VariantOptions.of("encode", RULES));
                Timeline timeline = runtime.createTimeline();
                Fence ready = timeline.at(1);
                Fence done = timeline.at(2)) {
            CompletableFuture<Results> call = program.function("encode")
                    .call(CallOptions.DEFAULTS.after(ready).signal(done), new float[][] {{1, 2, 3}}, new int[][] {
                        {1, 1, 1}
                    });
            assertThat(call).isNotDone();
            ready.signal();
            done.await();
            assertThat(read(call.join())[1]).containsExactly(12, 12, 12, 12);
            assertThat(heard).containsExactly("variants.encode by encode: 6, 0 added");
        }
    }

    @Test
    void aCallWithFencesIsRefusedPadding() {
        try (Program program = staticOnly();
                Timeline timeline = runtime.createTimeline();
                Fence done = timeline.at(1);
                Fence later = timeline.at(2)) {
            ProgramFunction sentences = program.function("sentences");
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> sentences.call(CallOptions.DEFAULTS.signal(done), (Object) new float[1][3]))
                    .withMessageContaining("no variant of 'module.sentences' has exactly batch 1, length 3")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.FAILED_PRECONDITION));
            CompletableFuture<Results> exact =
                    sentences.call(CallOptions.DEFAULTS.signal(later), (Object) new float[1][4]);
            later.await();
            exact.join().close();
        }
    }

    @Test
    void anAbandonedPaddedCallLeavesNothing() {
        try (Program program = staticOnly()) {
            ProgramFunction sentences = program.function("sentences");
            for (int i = 0; i < Effort.rounds(200); i++) {
                CompletableFuture<Results> call = sentences.invokeAsync((Object) new float[3][3]);
                if (!call.cancel(true)) {
                    call.join().close();
                }
            }
        }
    }

    @Test
    void alignedCallsShareAShapeAndGetTheirOwnResults() {
        try (Program program = staticOnly()) {
            ProgramFunction sentences = program.function("sentences");
            FunctionVariants variants = sentences.variants().orElseThrow();
            assertThat(variants).isNotNull();
            AlignedInputs five =
                    variants.align((Object) new float[][] {{1, 2, 3, 4, 5}}).orElseThrow();
            AlignedInputs seven = variants.align(new float[][] {{1, 1, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 2, 2, 2}}, null)
                    .orElseThrow();
            assertThat(five.inputs()).map(Tensor::shape).containsExactly(Shape.of(1, 8), Shape.of(1, 8));
            assertThat(seven.inputs()).map(Tensor::shape).containsExactly(Shape.of(2, 8), Shape.of(2, 8));
            assertThat(five.rows()).isEqualTo(1);
            assertThat(seven.rows()).isEqualTo(2);
            assertThat(five.rowSizes()).containsExactly(1L, 4L);
            float[] words = new float[24];
            int[] mask = new int[24];
            System.arraycopy(five.inputs().get(0).toFloatArray(), 0, words, 0, 8);
            System.arraycopy(seven.inputs().get(0).toFloatArray(), 0, words, 8, 16);
            System.arraycopy(five.inputs().get(1).toIntArray(), 0, mask, 0, 8);
            System.arraycopy(seven.inputs().get(1).toIntArray(), 0, mask, 8, 16);
            List<Results> parts = sentences
                    .invoke(Tensor.of(words, 3, 8), Tensor.of(mask, 3, 8))
                    .divide(1, 2);
            assertThat(read(five.cut(parts.get(0))))
                    .isDeepEqualTo(new float[][] {{16, 17, 18, 19, 20}, {30, 30, 30, 30}});
            float[] sums = new float[14];
            Arrays.fill(sums, 0, 7, 8);
            Arrays.fill(sums, 7, 14, 16);
            assertThat(read(seven.cut(parts.get(1))))
                    .isDeepEqualTo(new float[][] {sums, {14, 14, 14, 14, 28, 28, 28, 28}});
            assertThat(heard)
                    .containsExactly(
                            "variants.sentences by encode_4x8: 64, 16 added",
                            "variants.sentences aligned: 6 added",
                            "variants.sentences aligned: 4 added");
            assertThat(variants.padding()).isEqualTo(26);
        }
    }

    @Test
    void aFurtherModuleIsAPartOfTheProgram() {
        ProgramOptions options = options("cpu")
                .variants(VariantOptions.of("encode", RULES).module(Fixtures.file("3.13.0/cpu/variants_wide.vmfb")))
                .build();
        try (Program program = runtime.load(options)) {
            Program second = program.newInstance();
            assertThat(runtime.programs()).containsExactlyInAnyOrder(program, second);
            for (Program each : List.of(program, second)) {
                ProgramFunction encode = each.function("encode");
                FunctionVariants variants = encode.variants().orElseThrow();
                assertThat(variants).isNotNull();
                assertThat(variants.all()).hasSize(6);
                assertThat(variants.all().getLast().function().program()).isNotSameAs(each);
                assertThat(variants.all())
                        .extracting(FunctionVariant::name)
                        .as("arguments with the same name are distinguished")
                        .contains("encode_?x?", "encode_2x16")
                        .doesNotHaveDuplicates();
                float[][] words = new float[2][14];
                words[1][13] = 3;
                assertThat(read(encode.invoke((Object) words))[1]).containsExactly(0, 0, 0, 0, 6, 6, 6, 6);
                assertThat(variants.all().getLast().calls()).isEqualTo(1);
            }
            ProgramFunction wide = second.function("encode")
                    .variants()
                    .orElseThrow()
                    .all()
                    .getLast()
                    .function();
            second.close();
            assertThat(wide.program().isClosed()).isTrue();
            assertThat(runtime.programs()).containsExactly(program);
            program.function("encode").invoke((Object) new float[2][16]).close();
        }
    }

    @Test
    void anUnloadablePartLeavesNothing() {
        ProgramOptions options = options("cpu")
                .variants(VariantOptions.of("encode", RULES)
                        .module(Fixtures.file("3.13.0/cpu/variants_wide.vmfb"))
                        .module(Fixtures.file("3.13.0/cpu/add.vmfb")))
                .build();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> runtime.load(options))
                .withMessageContaining("variants of 'encode' cannot be used")
                .withMessageContaining("'variants.add'")
                .satisfies(e -> assertThat(e.detail(VariantFault.class)).contains(new VariantFault("encode")));
        assertThat(runtime.programs()).isEmpty();
    }
}
