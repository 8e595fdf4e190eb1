package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Declarations of variants by modules and options, with functions in Java that return their first argument. */
class VariantDeclarationsTest {
    private final IreeRuntime runtime = IreeRuntime.create();
    private final AtomicReference<@Nullable BufferView> seen = new AtomicReference<>();
    private final AtomicReference<byte[]> contents = new AtomicReference<>(new byte[0]);
    private final List<Object> numbers = new ArrayList<>();

    @AfterEach
    void nothingIsLeft() {
        runtime.close();
        LeakCheck.assertNone(runtime);
    }

    private NativeModule.Builder<List<Object>> module() {
        return NativeModule.builder("java", 1, () -> numbers);
    }

    private NativeModule.Builder<List<Object>> add(
            NativeModule.Builder<List<Object>> module, String name, String arguments, String results) {
        String kinds = arguments
                .replaceAll("%\\w+: ", "")
                .replaceAll("tensor<[^>]*>", "r")
                .replace("i32", "i")
                .replace(", ", "");
        return module.function(name, "0" + kinds + "_r", this::first)
                .attribute("iree.abi.declaration", "sync func @%s(%s) -> (%s)".formatted(name, arguments, results));
    }

    private void first(List<Object> state, VmCall call) {
        BufferView view = call.required(BufferView.class);
        seen.set(view);
        contents.set(view.buffer().map(MemoryAccess.READ, 0, view.byteLength()).toArray(ValueLayout.JAVA_BYTE));
        view.retain();
        call.returnRef(view);
    }

    private Program load(NativeModule.Builder<List<Object>> module, VariantOptions... variants) {
        ProgramOptions.Builder options = ProgramOptions.builder().module(module.build());
        for (VariantOptions each : variants) {
            options.variants(each);
        }
        return runtime.load(options.build());
    }

    private static VariantOptions rules(String function, String text, String... names) {
        return VariantOptions.of(function, ShapeRules.parse(text)).functions(names);
    }

    @Test
    void aCallOfJustTheShapeIsPassedOnWithoutACopy() {
        NativeModule.Builder<List<Object>> module = module();
        add(module, "f_4", "%x: tensor<4x2xf32>", "%y: tensor<4x2xf32>");
        try (Program program = load(module, rules("f", "[n 2] -> [n 2]"));
                Tensor input = runtime.upload(Tensor.of(new float[8], 4, 2))) {
            try (Results results = program.function("f").invoke((Object) input)) {
                assertThat(seen.get()).isSameAs(input.elements().view());
                assertThat(results.tensor(0).shape()).isEqualTo(Shape.of(4, 2));
            }
            try (Tensor less = runtime.upload(Tensor.of(new float[] {1, 2, 3, 4}, 2, 2));
                    Results results = program.function("f").invoke((Object) less)) {
                assertThat(seen.get()).isNotSameAs(less.elements().view());
                assertThat(results.tensor(0)).hasToString("2x2xf32=[1 2][3 4]");
            }
        }
    }

    @Test
    void columnsAreCutIntoACopyAndSquaresInBothDirections() {
        NativeModule.Builder<List<Object>> module = module();
        add(module, "f_3", "%x: tensor<3x3xi16>", "%y: tensor<3x3xi16>");
        try (Program program = load(module, rules("f", "[n n] fill=-7 -> [n n]"));
                Results results = program.function("f").invoke((Object) new short[][] {{1, 2}, {3, 4}})) {
            assertThat(results.tensor(0)).hasToString("2x2xi16=[1 2][3 4]");
            assertThat(results.tensor(0).byteSize()).isEqualTo(8);
            assertThat(contents.get())
                    .as("1 2 -7, 3 4 -7, -7 -7 -7")
                    .containsExactly(1, 0, 2, 0, -7, -1, 3, 0, 4, 0, -7, -1, -7, -1, -7, -1, -7, -1);
        }
    }

    @Test
    void numbersArePassedOn() {
        NativeModule.Builder<List<Object>> module = module();
        module.function("f_4", "0ri_r", (state, call) -> {
                    BufferView view = call.required(BufferView.class);
                    numbers.add(call.i32());
                    view.retain();
                    call.returnRef(view);
                })
                .attribute("iree.abi.declaration", "sync func @f_4(%x: tensor<4xf32>, %k: i32) -> (%y: tensor<4xf32>)");
        try (Program program = load(module, rules("f", "[n], _ -> [n]"));
                Results results = program.function("f").invoke(new float[] {1, 2}, 42)) {
            assertThat(results.tensor(0)).hasToString("2xf32=1 2");
            assertThat(numbers).containsExactly(42);
        }
    }

    @Test
    void aTensorGivenAwayBelongsToTheCallEvenAfterAFailure() {
        NativeModule.Builder<List<Object>> module = module();
        module.function("f_4", "0r_r", (state, call) -> {
                    throw IreeException.of(StatusCode.ABORTED, "on purpose");
                })
                .attribute("iree.abi.declaration", "sync func @f_4(%x: tensor<4xf32>) -> (%y: tensor<4xf32>)");
        try (Program program = load(module, rules("f", "[n] -> [n]"))) {
            ProgramFunction f = program.function("f");
            for (int length : new int[] {3, 4}) {
                Tensor given = Tensor.of(new float[length], length);
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> f.invoke((Object) given.transfer()))
                        .withMessageContaining("on purpose");
                assertThat(given.isClosed()).as("of length %d, invoke", length).isTrue();
                Tensor other = Tensor.of(new float[length], length);
                assertThat(f.invokeAsync((Object) other.transfer())).failsWithin(Duration.ofMinutes(1));
                assertThat(other.isClosed())
                        .as("of length %d, invokeAsync", length)
                        .isTrue();
            }
        }
    }

    @Test
    void nothingIsTakenForACallRefusingAnotherInput() {
        NativeModule.Builder<List<Object>> module = module();
        add(module, "f_4", "%x: tensor<4xf32>, %k: i32", "%y: tensor<4xf32>");
        try (Program program = load(module, rules("f", "[n], _ -> [n]"))) {
            ProgramFunction f = program.function("f");
            for (int length : new int[] {3, 4}) {
                try (Tensor given = Tensor.of(new float[length], length)) {
                    assertThatExceptionOfType(IreeException.class)
                            .isThrownBy(() -> f.invoke(given.transfer(), "no number"))
                            .withMessageContaining("is i32; given String");
                    assertThatExceptionOfType(IreeException.class)
                            .isThrownBy(() -> f.invokeAsync(given.transfer(), "no number"))
                            .withMessageContaining("is i32; given String");
                    assertThat(given.isClosed()).as("of length %d", length).isFalse();
                }
            }
        }
    }

    @Test
    void aTensorMayBeGivenAwayForSeveralArguments() {
        NativeModule.Builder<List<Object>> module = module();
        add(module, "f_4x3", "%x: tensor<4xf32>, %z: tensor<3xf32>", "%y: tensor<4xf32>");
        try (Program program = load(module, rules("f", "[n], [k] -> [n]"))) {
            for (int length : new int[] {2, 3}) {
                Tensor given = Tensor.of(new float[length], length);
                program.function("f").invoke(given.transfer(), given.transfer()).close();
                assertThat(given.isClosed()).as("of length %d", length).isTrue();
            }
        }
    }

    @Test
    void aResultOfAnotherShapeThanDeclaredIsInternal() {
        NativeModule.Builder<List<Object>> module = module();
        add(module, "f_4", "%x: tensor<4x2xf32>", "%y: tensor<?xf32>");
        try (Program program = load(module, rules("f", "[n 2] -> [n]"))) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("f").invoke((Object) new float[3][2]))
                    .withMessageContaining("result 0 of 'java.f' is 4x2xf32, and by its shape rules [n]")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INTERNAL));
        }
    }

    @Test
    void aResultOfAnotherSizeThanDeclaredIsInternal() {
        NativeModule.Builder<List<Object>> module = module();
        add(module, "f_4", "%x: tensor<4x8xf32>", "%y: tensor<?x?xf32>");
        try (Program program = load(module, rules("f", "[n 8] -> [8 n]"))) { // the module gives 4x8, not 8x4
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("f").invoke((Object) new float[3][8]))
                    .withMessageContaining("result 0 of 'java.f' is 4x8xf32, and by its shape rules [8 n]")
                    .withMessageContaining("correct the rules");
        }
    }

    @Test
    void functionsOnlyNamedAlikeAreNoVariants() {
        NativeModule.Builder<List<Object>> module = module();
        add(module, "f", "%x: tensor<?xf32>", "%y: tensor<?xf32>");
        add(module, "f_4", "%x: tensor<4xf32>", "%y: tensor<4xf32>");
        add(module, "f_double", "%x: tensor<4xf64>", "%y: tensor<4xf64>");
        add(module, "f_two", "%x: tensor<4xf32>, %z: tensor<4xf32>", "%y: tensor<4xf32>");
        add(module, "factor", "%x: tensor<8xf32>", "%y: tensor<8xf32>");
        try (Program program = load(module, rules("f", "[n] -> [n]"))) {
            FunctionVariants variants = program.function("f").variants().orElseThrow();
            assertThat(variants).isNotNull();
            assertThat(variants.all()).map(each -> each.function().name()).containsExactly("f", "f_4");
            assertThat(program.functions())
                    .map(ProgramFunction::name)
                    .containsExactlyInAnyOrder("f", "f_double", "f_two", "factor");
        }
    }

    @Test
    void anInterfaceIsImplementedByAFunctionForSeveral() {
        NativeModule.Builder<List<Object>> module = module();
        add(module, "f_4", "%x: tensor<4xf32>", "%y: tensor<4xf32>");
        add(module, "f_8", "%x: tensor<8xf32>", "%y: tensor<8xf32>");
        try (Program program = load(module, rules("f", "[n] -> [n]"))) {
            assertThat(program.bind(Same.class).f(new float[] {1, 2, 3, 4, 5})).containsExactly(1, 2, 3, 4, 5);
        }
    }

    interface Same {
        float[] f(float[] x);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "%x: tensor<4xf32> | [n m] -> [n]     | argument 0 of 'java.f' is tensor<4xf32>, and its rule [n m]",
                "%x: tensor<4xf32> | [n 3] -> [n]     | argument 0 of 'java.f' is tensor<4xf32>, and its rule [n 3]",
                "%x: tensor<4x5xf32> | [n 3] -> [n]   | argument 0 of 'java.f' is tensor<4x5xf32>, and its rule [n 3]",
                "%x: tensor<4x5xf32> | [n n] -> [n]   | argument 0 of 'java.f' is tensor<4x5xf32>, where 'n' is 5, and elsewhere it is 4",
                "%x: tensor<5xf32> | [n] -> [n]       | result 0 of 'java.f' is tensor<4xf32>, where 'n' is 4, and elsewhere it is 5",
                "%x: tensor<?xf32> | [n] -> [n]       | result 0 of 'java.f' is tensor<4xf32>, where 'n' is 4, and elsewhere it is open",
                "%x: tensor<4xf32> | [n], [n] -> [n]  | are for 2 arguments and 1 results, and 'java.f' has 1 and 1",
                "%x: tensor<4xf32> | [n]              | are for 1 arguments and 0 results",
                "%x: tensor<4xi8>  | [n] fill=300 -> [n] | argument 0 of 'java.f' cannot be filled",
                "%x: tensor<4xi8>  | [n] fill=0.5 -> [n] | 0.5 is not a number of element type i8",
                "%x: tensor<4xi4>  | [n] -> [n]       | whose elements share bytes",
                "%x: tensor<4xf32>, %m: tensor<4x?xi1> | [n], [n _] mask -> [n] | is a mask, and nothing determines the size of its dimension 1",
            })
    void unsuitableRulesAreRefusedAtLoad(String arguments, String rules, String said) {
        NativeModule.Builder<List<Object>> module = module();
        add(module, "f", arguments.strip(), "%y: tensor<4xf32>");
        refused(said.strip(), module, rules("f", rules.strip()));
    }

    private void refused(String said, NativeModule.Builder<List<Object>> module, VariantOptions... variants) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> load(module, variants))
                .withMessageContaining("variants of 'f' cannot be used")
                .withMessageContaining(said)
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT))
                .satisfies(e -> assertThat(e.detail(VariantFault.class)).contains(new VariantFault("f")));
    }

    @Test
    void functionsOfDifferentShapesAreRefused() {
        NativeModule.Builder<List<Object>> module = module();
        add(module, "a", "%x: tensor<4xf32>", "%y: tensor<4xf32>");
        add(module, "b", "%x: tensor<4xf32>", "%y: tensor<4xf32>");
        add(module, "c", "%x: tensor<8xf64>", "%y: tensor<8xf64>");
        refused("'java.a' and 'java.b' have the same sizes, 4", module, rules("f", "[n] -> [n]", "a", "b"));
        refused(
                "'java.a' and 'java.c' differ in more than the sizes of axes",
                module,
                rules("f", "[n] -> [n]", "a", "c"));
        refused("there is no function 'd'; there are a, b, c", module, rules("f", "[n] -> [n]", "a", "d"));
        refused("there is no function 'x*'", module, rules("f", "[n] -> [n]", "x*"));
        refused(
                "no function with this name fits the rules [n] -> [n]; there are a, b, c",
                module,
                rules("f", "[n] -> [n]"));
    }

    @Test
    void aNamedButUnsuitableFunctionExplainsWhy() {
        NativeModule.Builder<List<Object>> module = module();
        add(module, "f_4", "%x: tensor<4x4xf32>", "%y: tensor<4xf32>");
        refused("there are f_4; 'f_4' does not: ", module, rules("f", "[n] -> [n]"));
    }

    /** Like a function imported from ONNX. */
    private Program undeclared(String... names) {
        NativeModule.Builder<List<Object>> module = module();
        for (String each : names) {
            module.function(each, "0rr_r", this::first);
        }
        return load(
                module,
                rules("f", "[batch length], [batch length] i64 mask -> [batch length]", "f", "f_{batch}x{length}"));
    }

    @Test
    void functionsWithoutDeclarationsHaveTheSizesOfTheirNames() {
        try (Program program = undeclared("f_2x4", "f_2x8", "f", "f$async")) {
            ProgramFunction f = program.function("f");
            FunctionVariants variants = f.variants().orElseThrow();
            assertThat(variants).isNotNull();
            assertThat(variants.all())
                    .map(FunctionVariant::sizes)
                    .containsExactly(
                            Map.of("batch", -1L, "length", -1L),
                            Map.of("batch", 2L, "length", 4L),
                            Map.of("batch", 2L, "length", 8L));
            try (Results results = f.invoke((Object) new long[][] {{1, 2, 3}})) {
                assertThat(results.tensor(0)).hasToString("1x3xi64=[1 2 3]");
                assertThat(contents.get()).as("eight longs").hasSize(64);
            }
            assertThat(f.arguments().get(1).type()).isEqualTo("tensor<?x?xi64>");
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> f.invoke((Object) new long[3]))
                    .withMessageContaining("is [batch length]; given 3xi64");
        }
    }

    @Test
    void undeclaredSizesAreNotGuessed() {
        NativeModule.Builder<List<Object>> module = module().function("g", "0r_r", this::first);
        refused("the module declares no shapes for 'java.g'", module, rules("f", "[n] -> [n]", "g"));
        refused(
                "there is no axis 'm' in the rules",
                module.function("h_4", "0r_r", this::first),
                rules("f", "[n] -> [n]", "h_{m}"));
        add(module, "k_4", "%x: tensor<8xf32>", "%y: tensor<8xf32>");
        refused("where 'n' is 8, and elsewhere it is 4", module, rules("f", "[n] -> [n]", "k_{n}"));
    }

    @Test
    void aMaskOfNoKnownTypeMustBeGiven() {
        NativeModule.Builder<List<Object>> module = module().function("f_4", "0rr_r", this::first);
        try (Program program = load(module, rules("f", "[n], [n] mask -> [n]", "f_{n}"))) {
            ProgramFunction f = program.function("f");
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> f.invoke((Object) new float[3]))
                    .withMessageContaining("is a mask whose type neither the module nor its rule declares");
            f.invoke(new float[3], new int[3]).close();
        }
    }

    @Test
    void rulesOfAModuleAreNotTrusted() {
        NativeModule.Builder<List<Object>> module = module();
        add(module, "f", "%x: tensor<4xf32>", "%y: tensor<4xf32>").attribute("iree4j.shapes", "[n -> [n]");
        refused("shape rules cannot be used", module);
    }

    @Test
    void rulesMustComeFromSomewhere() {
        NativeModule.Builder<List<Object>> module = module();
        add(module, "f", "%x: tensor<4xf32>", "%y: tensor<4xf32>");
        refused("neither the options nor the module declare the rules", module, VariantOptions.of("f", null));
    }

    @Test
    void aFunctionHasVariantsOnce() {
        VariantOptions once = rules("f", "[n] -> [n]");
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> ProgramOptions.builder()
                        .variants(once)
                        .variants(once.dynamicCost(2))
                        .build())
                .withMessageContaining("declared twice")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> once.dynamicCost(0.5))
                .withMessageContaining("not within [1, 1e9]");
    }

    @Test
    void anAbsurdSizeIsRefusedAtTheCall() {
        NativeModule.Builder<List<Object>> module = module();
        add(module, "f", "%x: tensor<4611686018427387904xf32>", "%y: tensor<?xf32>");
        try (Program program = load(module, rules("f", "[n] -> _"))) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("f").invoke((Object) new float[4]))
                    .satisfies(e -> assertThat(e.code()).isIn(StatusCode.OUT_OF_RANGE, StatusCode.RESOURCE_EXHAUSTED));
        }
    }
}
