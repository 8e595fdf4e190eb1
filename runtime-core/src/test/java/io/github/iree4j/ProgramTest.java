package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.hal.ElementType;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmModule;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Programs of modules written in Java, for tests that decide when a call continues. */
@Timeout(300)
class ProgramTest extends ProgramFixture {
    // -- values

    @Test
    void primitivesGoInAndOut() {
        try (Program program = program();
                Results results = program.function("mix").invoke((byte) 1, 2, 3.5, 4.5f)) {
            assertThat(results.doubleValue(0)).isEqualTo(4.5);
            assertThat(results.floatValue(1)).isEqualTo(3.5f);
            assertThat(results.longValue(2)).isEqualTo(2);
            assertThat(results.intValue(3)).isEqualTo(1);
            assertThat(results.longValue(3)).isEqualTo(1);
            assertThat(results.asList()).containsExactly(4.5, 3.5f, 2L, 1);
            assertFails(StatusCode.INVALID_ARGUMENT, "is a Double, not a Tensor", () -> results.tensor(0));
            assertFails(StatusCode.OUT_OF_RANGE, "no result 4", () -> results.get(4));
        }
    }

    @Test
    void primitivesOfTheWrongKindAreRefused() {
        try (Program program = program()) {
            ProgramFunction mix = program.function("mix");
            assertFails(StatusCode.INVALID_ARGUMENT, "i32", () -> mix.invoke(1.5, 2, 3, 4));
            assertFails(StatusCode.INVALID_ARGUMENT, "i32", () -> mix.invoke(1L << 40, 2, 3, 4));
            assertFails(StatusCode.INVALID_ARGUMENT, "given null", () -> mix.invoke(1, null, 3, 4));
            assertFails(StatusCode.INVALID_ARGUMENT, "given float[1]", () -> mix.invoke(1, 2, new float[1], 4));
        }
    }

    @Test
    void arraysBecomeTheDeclaredTypes() {
        try (Program program = program()) {
            assertThat(call(program, "same", new float[] {1, 2, 3, 4})).isEqualTo("2x2xf32=[1 2][3 4]");
            assertThat(call(program, "same", (Object) new float[][] {{1, 2}})).isEqualTo("1x2xf32=[1 2]");
            assertThat(call(program, "same", (Object) new double[][] {{1, 2}})).isEqualTo("1x2xf32=[1 2]");
            assertThat(call(program, "same", new float[0])).isEqualTo("0x2xf32=");
            assertThat(call(program, "half", new double[] {0.5, 3})).isEqualTo("2xf16=0.5 3");
            assertThat(call(program, "byte", 200)).isEqualTo("ui8=200");
            assertThat(call(program, "byte", new byte[] {-56})).isEqualTo("ui8=200");
            assertThat(call(program, "any", (Object) new int[][] {{1}, {2}})).isEqualTo("2x1xi32=[1][2]");
            assertThat(call(program, "any", true)).isEqualTo("i1=01");
            ProgramFunction same = program.function("same");
            assertFails(StatusCode.INVALID_ARGUMENT, "argument 0 'x'", () -> same.invoke((Object) new float[3]));
            assertFails(StatusCode.INVALID_ARGUMENT, "ragged", () -> same.invoke((Object) new float[][] {{1, 2}, {1}}));
            assertFails(
                    StatusCode.INVALID_ARGUMENT, "ragged", () -> same.invoke((Object) new float[][] {{1, 2}, null}));
            assertFails(StatusCode.INVALID_ARGUMENT, "not an array", () -> same.invoke((Object) new String[] {"a"}));
            assertFails(
                    StatusCode.OUT_OF_RANGE,
                    "256",
                    () -> program.function("byte").invoke(256));
        }
    }

    @Test
    void anArrayOfArraysIsASingleInputOfEveryKindOfCall() {
        try (Program program = program()) {
            ProgramFunction same = program.function("same");
            Object[] rows =
                    new float[][] {{1, 2}, {3, 4}}; // as Java passes a float[][] to a variable number of arguments
            assertThat(read(same.invoke(rows))).isEqualTo("2x2xf32=[1 2][3 4]");
            assertThat(read(same.call(CallOptions.DEFAULTS.timeout(Duration.ofMinutes(5)), rows)
                            .await()))
                    .isEqualTo("2x2xf32=[1 2][3 4]");
            assertThat(read(same.invokeAsync(rows).join())).isEqualTo("2x2xf32=[1 2][3 4]");
            assertThat(read(same.invokeAsync(rows).join())).isEqualTo("2x2xf32=[1 2][3 4]");
            assertThat(read(same.call(CallOptions.DEFAULTS, rows).join())).isEqualTo("2x2xf32=[1 2][3 4]");
        }
    }

    @Test
    void aNullArrayOfInputsIsRefusedByEveryKindOfCall() {
        try (Program program = program()) {
            ProgramFunction same = program.function("same");
            Object[] none = null; // as Java passes null to a variable number of arguments
            assertFails(StatusCode.INVALID_ARGUMENT, "the array of inputs is null", () -> same.invoke(none));
            assertFails(
                    StatusCode.INVALID_ARGUMENT,
                    "the array of inputs is null",
                    () -> same.call(CallOptions.DEFAULTS.timeout(Duration.ofMinutes(5)), none)
                            .await());
            assertFails(StatusCode.INVALID_ARGUMENT, "the array of inputs is null", () -> same.invokeAsync(none));
            assertFails(
                    StatusCode.INVALID_ARGUMENT,
                    "the array of inputs is null",
                    () -> same.call(CallOptions.DEFAULTS, none));
        }
    }

    private static String read(Results results) {
        try (results) {
            return results.tensor(0).toString();
        }
    }

    @Test
    void arraysOfObjectsAndBigNumbersAreTakenWholeOrRefused() {
        try (Program program = program()) {
            assertThat(call(program, "same", (Object) new Object[] {new float[] {1, 2}, new float[] {3, 4}}))
                    .isEqualTo("2x2xf32=[1 2][3 4]");
            ProgramFunction any = program.function("any");
            assertFails(
                    StatusCode.INVALID_ARGUMENT,
                    "int[]",
                    () -> any.invoke((Object) new Object[] {new float[1], new int[1]}));
            assertFails(
                    StatusCode.INVALID_ARGUMENT,
                    "String",
                    () -> any.invoke((Object) new Object[] {new float[1], "text"}));
            ProgramFunction one = program.function("byte");
            assertFails(
                    StatusCode.INVALID_ARGUMENT,
                    "BigInteger",
                    () -> one.invoke(java.math.BigInteger.ONE.shiftLeft(64).add(java.math.BigInteger.TWO)));
            assertFails(StatusCode.INVALID_ARGUMENT, "BigDecimal", () -> one.invoke(new java.math.BigDecimal("1.5")));
        }
    }

    @Test
    void storageOfAResultIsPassedAsBuffer() {
        try (Program program = program();
                Tensor tensor = Tensor.zeros(ElementType.F32, 4);
                Results results = program.function("kind").invoke(tensor)) {
            assertThat(results.intValue(0)).isEqualTo(2);
        }
    }

    @Test
    void messagesNameANamedProgram() {
        ProgramOptions named =
                ProgramOptions.builder().module(module()).name("digits").build();
        try (Program program = runtime.load(named)) {
            ProgramFunction same = program.function("same");
            assertThat(same.fullName()).isEqualTo("digits.same");
            assertThat(program.function("digits.same")).isSameAs(same);
            assertThat(program.function("java.same")).isSameAs(same);
            assertFails(
                    StatusCode.INVALID_ARGUMENT,
                    "argument 0 'x' of function 'digits.same'",
                    () -> same.invoke((Object) new float[3]));
            assertFails(
                    StatusCode.NOT_FOUND,
                    "program 'digits' has no function 'nothing'",
                    () -> program.function("nothing"));
        }
    }

    @Test
    void fullNamesAreFoundAgainWhereAModuleIsNamedLikeTheProgram() {
        VmModule[] modules = new VmModule[2];
        for (int i = 0; i < 2; i++) {
            modules[i] = NativeModule.builder(i == 0 ? "adder" : "other", 0, Object::new)
                    .function("number", "0v_i", (_, call) -> call.returnI32(0))
                    .build();
        }
        try (Program program = runtime.load(ProgramOptions.builder()
                .module(modules[0])
                .module(modules[1])
                .name("adder")
                .build())) {
            assertThat(program.functions())
                    .hasSize(2)
                    .allSatisfy(each ->
                            assertThat(program.function(each.fullName())).isSameAs(each));
        }
    }

    @Test
    void listsComeAsListsAndOwnTheirTensors() {
        Results results;
        Tensor inner;
        try (Program program = program()) {
            results = program.function("list").invoke((Object) new float[] {1});
            List<?> list = (List<?>) results.get(0);
            inner = (Tensor) list.get(0);
            assertThat(inner).hasToString("1xf32=1");
            assertThat(list.get(1)).isEqualTo(List.of(7L));
            assertThat(list.get(2)).isNull();
        }
        results.close();
        assertThat(inner.isClosed()).isTrue();
    }

    @Test
    void explodingListsAreRefused() {
        try (Program program = program()) {
            assertFails(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "lists returned",
                    () -> program.function("loop").invoke());
        }
    }

    // -- failures

    @Test
    void failuresOfTheFunctionKeepTheirCode() {
        try (Program program = program()) {
            assertFails(
                    StatusCode.ABORTED,
                    "as asked",
                    () -> program.function("fail").invoke());
            assertFails(
                    StatusCode.ABORTED,
                    "as asked",
                    () -> program.function("fail")
                            .call(CallOptions.DEFAULTS.timeout(Duration.ofSeconds(50)))
                            .await());
            try (Results again = program.function("one").invoke()) {
                assertThat(again.intValue(0)).isEqualTo(1);
            }
        }
    }

    @Test
    void unexpectedExceptionsOfAModuleReachTheCallerAndLeaveTheProgramUsable() {
        try (Program program = program()) {
            assertThatExceptionOfType(RuntimeException.class)
                    .isThrownBy(() -> program.function("crash").invoke())
                    .withStackTraceContaining("a bug in a Java module");
            assertThat(program.function("crash").invokeAsync())
                    .failsWithin(Duration.ofSeconds(50))
                    .withThrowableThat()
                    .withStackTraceContaining("a bug in a Java module");
            program.function("one").invoke().close();
        }
    }

    @Test
    void missingModulesAreNamed() {
        assertFails(
                StatusCode.INVALID_ARGUMENT,
                "at least one module",
                () -> runtime.load(ProgramOptions.builder().build()));
        assertFails(
                StatusCode.NOT_FOUND,
                "there is no driver 'gpu'",
                () -> IreeRuntime.builder().device("gpu").build());
        assertFails(
                StatusCode.NOT_FOUND,
                "(installed: local)",
                () -> IreeRuntime.builder().device("gpu://0").build());
    }
}
