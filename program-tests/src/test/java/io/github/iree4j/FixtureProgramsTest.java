package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.hal.ElementType;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.util.Arrays;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compiled programs, called through the public API. The expected values come from the fixtures' own description. */
class FixtureProgramsTest {
    private static final float[] A = {1, 2, 3, 4};
    private static final float[] B = {10, 20, 30, 40};

    private static IreeRuntime runtime;

    @BeforeAll
    static void open() {
        runtime = IreeRuntime.create();
    }

    @AfterAll
    static void close() {
        runtime.close();
        assertThat(runtime.device().allocator().statistics().bytesLive())
                .as("bytes of results and inputs still allocated")
                .isZero();
    }

    private static Program load(String file) {
        return runtime.load(Fixtures.file(file));
    }

    /** Java passes the rows as the array of inputs: two rows must not become the two inputs. */
    @Test
    void anArrayOfArraysIsASingleInputOfAFunctionOfTwo() {
        try (Program program = load("3.11.0/cpu/add.vmfb")) {
            Object[] rows = new float[][] {{1, 2, 3, 4}, {10, 20, 30, 40}};
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("add").invoke(rows))
                    .withMessageContaining("takes 2 arguments")
                    .withMessageContaining("given 1");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"3.11.0/cpu/add.vmfb", "3.13.0/cpu/add.vmfb"})
    void addsFourFloats(String file) {
        try (Program program = load(file);
                Tensor a = Tensor.of(A);
                Results results = program.function("add").invoke(a, B)) {
            assertThat(results.size()).isEqualTo(1);
            assertThat(results.tensor(0)).hasToString("4xf32=11 22 33 44");
        }
    }

    @Test
    void memoryAllocatedByAProgramIsOnItsAccount() {
        try (Program program = load("3.11.0/cpu/add.vmfb");
                Results results = program.function("add").invoke(A, B)) {
            assertThat(results.size()).isEqualTo(1);
            assertThat(runtime.device().allocator().poolStatistics().consumers())
                    .filteredOn(each -> each.consumer().equals("add"))
                    .singleElement()
                    .satisfies(each -> assertThat(each.bytesTransient() + each.bytesPersistent())
                            .isGreaterThanOrEqualTo(16));
        }
    }

    @Test
    void scalesByASplatOfAnArchive() {
        assertThat(scaled("scale_weights.irpa")).containsExactly(2, 4, 6, 8);
    }

    @Test
    void scalesByAStoredEntryOfAnArchive() {
        assertThat(scaled("scale_weights_zero.irpa")).containsExactly(0, 0, 0, 0);
    }

    @Test
    void multipliesWithoutNativeCode() {
        float[] twos = new float[100];
        float[] threes = new float[100];
        Arrays.fill(twos, 2);
        Arrays.fill(threes, 3);
        try (Program program = load("3.11.0/vmvx/simple_mul.vmfb");
                Results results = program.function("simple_mul").invoke(twos, threes)) {
            assertThat(results.tensor(0).toFloatArray()).hasSize(100).containsOnly(6);
        }
    }

    private static float[] scaled(String archive) {
        ProgramOptions options = ProgramOptions.builder()
                .module(Fixtures.file("3.11.0/cpu/scale.vmfb"))
                .parameters("model", Fixtures.file(archive))
                .build();
        try (Program program = runtime.load(options);
                Results results = program.function("scale").invoke((Object) A)) {
            return results.tensor(0).toFloatArray();
        }
    }

    @Test
    void scalesAndAddsByTwoScopes() {
        ProgramOptions options = ProgramOptions.builder()
                .module(Fixtures.file("3.11.0/cpu/scale2.vmfb"))
                .parameters("model", Fixtures.file("scale_weights.irpa"))
                .parameters("bias", Fixtures.file("scale2_bias.irpa"))
                .build();
        try (Program program = runtime.load(options);
                Results results = program.function("scale2").invoke((Object) A)) {
            assertThat(results.tensor(0).toFloatArray()).containsExactly(12, 14, 16, 18);
        }
    }

    @Test
    void missingScopeIsNamed() {
        ProgramOptions options = ProgramOptions.builder()
                .module(Fixtures.file("3.11.0/cpu/scale2.vmfb"))
                .parameters("model", Fixtures.file("scale_weights.irpa"))
                .build();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> runtime.load(options))
                .withMessageContaining("'bias'")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.NOT_FOUND));
    }

    @Test
    @EnabledOnOs(
            architectures = {"amd64", "x86_64"},
            value = OS.LINUX)
    void codeForAnotherProcessorIsRefusedNamingWantedAndAvailableFormats() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> load("3.13.0/cpu-arm_64/add.vmfb"))
                .withMessageContaining("embedded-elf-arm_64")
                .withMessageContaining("embedded-elf-x86_64")
                .withMessageContaining("--iree-llvmcpu-target-triple=x86_64-unknown-linux-gnu")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INCOMPATIBLE));
    }

    @Test
    void bytesInMemoryAreLoadedAsTheFile() throws Exception {
        byte[] content = Files.readAllBytes(Fixtures.file("3.11.0/cpu/add.vmfb"));
        ProgramOptions options =
                ProgramOptions.builder().module("add in memory", content).build();
        try (Program program = runtime.load(options);
                Results results = program.function("module.add").invoke(A, B)) {
            assertThat(results.tensor(0).toFloatArray()).containsExactly(11, 22, 33, 44);
        }
    }

    @Test
    void resultsAreInputsOfFurtherCalls() {
        try (Program program = load("3.11.0/cpu/add.vmfb");
                Results once = program.function("add").invoke(A, B);
                Results twice = program.function("add").invoke(once.tensor(0), once.tensor(0))) {
            assertThat(twice.tensor(0).toFloatArray()).containsExactly(22, 44, 66, 88);
        }
    }

    @Test
    void uploadedTensorsServeManyCalls() {
        try (Program program = load("3.11.0/cpu/add.vmfb");
                Tensor host = Tensor.of(A);
                Tensor a = runtime.upload(host)) {
            for (int i = 0; i < 10; i++) {
                try (Results results = program.function("add").invoke(a, a)) {
                    assertThat(results.tensor(0).toFloatArray()).containsExactly(2, 4, 6, 8);
                }
            }
        }
    }

    @Test
    void memoryOfTheCallerIsReadAtEachCall() {
        MemorySegment shared = Arena.ofAuto().allocate(16, 64);
        try (Arena confined = Arena.ofConfined();
                Program program = load("3.11.0/cpu/add.vmfb")) {
            MemorySegment own = confined.allocate(20, 4).asSlice(4);
            own.setAtIndex(ValueLayout.JAVA_FLOAT, 3, 5);
            try (Tensor a = Tensor.wrap(shared, ElementType.F32, 4);
                    Tensor b = Tensor.wrap(own, ElementType.F32, 4)) {
                for (int i = 1; i < 4; i++) {
                    shared.setAtIndex(ValueLayout.JAVA_FLOAT, 0, i);
                    try (Results results = program.function("add").invoke(a, b)) {
                        assertThat(results.tensor(0).toFloatArray()).containsExactly(i, 0, 0, 5);
                    }
                }
            }
        }
    }

    @Test
    void resultsOutliveProgramAndRuntime() {
        Results results;
        try (IreeRuntime own = IreeRuntime.create();
                Program program = own.load(Fixtures.file("3.11.0/cpu/add.vmfb"))) {
            results = program.function("add").invoke(A, B);
        }
        try (results) {
            assertThat(results.tensor(0).toFloatArray()).containsExactly(11, 22, 33, 44);
        }
    }

    @Test
    void takenTensorsOutliveTheResults() {
        try (Program program = load("3.11.0/cpu/add.vmfb")) {
            Tensor sum;
            try (Results results = program.function("add").invoke(A, B)) {
                sum = results.take(0);
            }
            try (sum) {
                assertThat(sum.toFloatArray()).containsExactly(11, 22, 33, 44);
            }
            assertThat(sum.isClosed()).isTrue();
        }
    }

    @Test
    void unsuitableInputsAreNamedWithWantedAndGiven() {
        try (Program program = load("3.11.0/cpu/add.vmfb")) {
            ProgramFunction add = program.function("add");
            assertInvalid(
                    add,
                    "argument 1 'input1' of function 'module.add' is tensor<4xf32>; given 5xf32",
                    A,
                    Tensor.of(new float[5]));
            assertInvalid(add, "given 4xi32", A, Tensor.of(new int[4]));
            assertInvalid(add, "given 2x2xf32", Tensor.of(A, 2, 2), B);
            assertInvalid(add, "argument 0 'input0'", new float[3], B);
            assertInvalid(add, "takes 2 arguments; given 1", (Object) A);
            assertInvalid(add, "takes 2 arguments; given 3", A, B, A);
            assertInvalid(add, "given String", A, "10 20 30 40");
            assertInvalid(add, "int[] does not convert to f32", A, new int[4]);
            assertInvalid(add, "is a scalar", A, 1f);
        }
    }

    private static void assertInvalid(ProgramFunction function, String message, Object... inputs) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> function.invoke(inputs))
                .withMessageContaining(message)
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
    }

    @Test
    void nullTensorsFailTheCallAndNotTheJvm() {
        try (Program program = load("3.11.0/cpu/add.vmfb")) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("add").invoke(A, null));
        }
    }

    @Test
    void functionsAreListedWithTheirDeclarations() {
        try (Program program = load("3.11.0/cpu/add.vmfb")) {
            assertThat(program.name()).isEqualTo("module");
            assertThat(program.functions()).singleElement().satisfies(add -> {
                assertThat(add.fullName()).isEqualTo("module.add");
                assertThat(add.declaration()).startsWith("sync func @add(%input0: tensor<4xf32>");
                assertThat(add.argumentKinds()).containsExactly(ValueKind.REFERENCE, ValueKind.REFERENCE);
                assertThat(add.resultKinds()).containsExactly(ValueKind.REFERENCE);
                assertThat(add.isAsynchronous()).isFalse();
            });
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("sub"))
                    .withMessage("program 'module' has no function 'sub' (it has: add)");
        }
    }
}
