package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.iree4j.module.Import;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Inputs and results by the names of the declaration, and results as Java values. */
class NamedValuesTest {
    private final IreeRuntime runtime = IreeRuntime.create();
    private final Program program = runtime.load(ProgramOptions.builder()
            .module(NativeModule.builder("m", 1, Object::new)
                    .function("subtract", "0ii_iI", (s, c) -> {
                        int x = c.i32();
                        int y = c.i32();
                        c.returnI32(x - y);
                        c.returnI64(1L << 40);
                    })
                    .attribute(
                            "iree.abi.declaration",
                            "sync func @subtract(%whole: i32, %part: i32) -> (%rest: i32, %large: i64)")
                    .function("bare", "0ii_i", (s, c) -> {
                        int x = c.i32();
                        c.returnI32(x - c.i32());
                    })
                    .function("nothing", "0v_r", (s, c) -> c.returnRef(null))
                    .build())
            .build());
    private final ProgramFunction subtract = program.function("subtract");

    record Difference(int rest, long large) {}

    record NoValue(Void none) {}

    record Narrow(int rest, int large) {}

    @AfterEach
    void close() {
        program.close();
        runtime.close();
    }

    @Test
    void inputsByNameComeInTheOrderOfTheArguments() {
        Map<String, Object> inputs = new HashMap<>();
        inputs.put("part", 3);
        inputs.put("whole", 10);
        try (Results results = subtract.invoke(subtract.inOrder(inputs))) {
            assertThat(results.get("rest")).isEqualTo(7);
            assertThat(results.get("large")).isEqualTo(1L << 40);
        }
    }

    @Test
    void valuesWithoutNamesAreNumbered() {
        ProgramFunction bare = program.function("bare");
        try (Results results = bare.invoke(bare.inOrder(Map.of("input1", 1, "input0", 5)))) {
            assertThat(results.get("output0")).isEqualTo(4);
        }
    }

    @Test
    void anUnknownNameFailsWithTheNamesThereAre() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> subtract.inOrder(Map.of("whole", 1, "parts", 2)))
                .withMessage("'m.subtract' has no input 'parts'; the inputs are [whole, part]")
                .extracting(IreeException::code)
                .isEqualTo(StatusCode.INVALID_ARGUMENT);
        try (Results results = subtract.invoke(1, 2)) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> results.get("sum"))
                    .withMessage("'m.subtract' has no result 'sum'; the results are [rest, large]")
                    .extracting(IreeException::code)
                    .isEqualTo(StatusCode.INVALID_ARGUMENT);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> results.tensor("rest"))
                    .withMessageContaining("not a Tensor");
        }
    }

    @Test
    void aMissingInputIsNamedWithItsType() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> subtract.inOrder(Map.of("whole", 1)))
                .withMessage("input 'part' (i32) of 'm.subtract' is missing; the inputs are [whole, part]");
    }

    @Test
    void aNullInputIsGivenNotMissing() {
        Map<String, Object> inputs = new HashMap<>(Map.of("whole", 1));
        inputs.put("part", null);
        assertThat(subtract.inOrder(inputs)).containsExactly(1, null);
    }

    @Test
    void resultsBecomeARecordInOrder() {
        assertThat(subtract.invoke(10, 3).to(Difference.class)).isEqualTo(new Difference(7, 1L << 40));
    }

    @Test
    void aTooLargeNumberFails() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> subtract.invoke(10, 3).to(Narrow.class))
                .withMessage("result 1 of 'm.subtract' is 1099511627776, which does not fit Integer")
                .extracting(IreeException::code)
                .isEqualTo(StatusCode.OUT_OF_RANGE);
    }

    @Test
    void resultsAreClosedOnceConverted() {
        Results results = program.function("bare").invoke(3, 2);
        assertThat(results.to(int.class)).isEqualTo(1);
        assertThatExceptionOfType(IreeException.class).isThrownBy(() -> results.get(0));
        Results several = subtract.invoke(3, 2);
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> several.to(int.class))
                .withMessage("'m.subtract' has 2 results, and 'Integer' takes 1");
        assertThatExceptionOfType(IreeException.class).isThrownBy(() -> several.get(0));
        Results unsupported = subtract.invoke(3, 2);
        assertThatIllegalArgumentException().isThrownBy(() -> unsupported.to(String.class));
        assertThatExceptionOfType(IreeException.class).isThrownBy(() -> unsupported.get(0));
    }

    interface Bound {
        @Import("m.bare")
        byte bare(int x, int y);

        @Import("m.subtract")
        Difference subtract(int whole, int part);

        @Import("m.nothing")
        @Nullable
        Tensor tensor();

        @Import("m.nothing")
        float @Nullable [] array();

        @Import("m.nothing")
        @Nullable
        String text();
    }

    @Test
    void boundInterfacesConvertResultsInTheSameWay() {
        Bound bound = program.bind(Bound.class);
        assertThat(bound.bare(3, 1)).isEqualTo((byte) 2);
        assertThat(bound.subtract(10, 3)).isEqualTo(new Difference(7, 1L << 40));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> bound.bare(1000, 0))
                .withMessage("result 0 of 'm.bare' is 1000, which does not fit Byte")
                .extracting(IreeException::code)
                .isEqualTo(StatusCode.OUT_OF_RANGE);
    }

    @Test
    void boundInterfacesReturnNullForANullReference() {
        Bound bound = program.bind(Bound.class);
        assertThat(bound.tensor()).isNull();
        assertThat(bound.array()).isNull();
        assertThat(bound.text()).isNull();
    }

    @Test
    void conversionsToARecordAreMadeOnce() {
        assertThat(ResultType.of(Difference.class)).isSameAs(ResultType.of(Difference.class));
    }

    @Test
    void otherTypesAreRefused() {
        for (Class<?> type :
                List.of(String.class, char.class, char[].class, Number.class, Object.class, NoValue.class)) {
            assertThatIllegalArgumentException().isThrownBy(() -> ResultType.of(type));
        }
    }
}
