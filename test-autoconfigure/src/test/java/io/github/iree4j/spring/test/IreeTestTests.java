package io.github.iree4j.spring.test;

import static io.github.iree4j.spring.test.IreeAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.Results;
import io.github.iree4j.Submission;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.client.IreeClient;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.stereotype.Component;

@IreeTest
@Timeout(300)
class IreeTestTests {

    @IreeClient("digits")
    interface Digits {
        float[][] classify(float[][] pixels);
    }

    @Component
    static class Unrelated {}

    @Autowired
    private FakePrograms programs;

    @Autowired
    private Programs loaded;

    @Autowired
    private InvocationService invocations;

    @Autowired
    private IreeRuntime runtime;

    @Autowired
    private Digits digits;

    @BeforeEach
    void script() {
        programs.program("digits", digits -> {
            digits.function("classify", "(tensor<?x2xf32>) -> tensor<?x1xf32>").takes(Duration.ofMillis(3));
            digits.function("count", "(%n: i32, %x: tensor<2xsi8>) -> (%m: i64)")
                    .answers(inputs -> List.of((Integer) inputs.get(0) + ((Tensor) inputs.get(1)).toByteArray()[1]));
        });
    }

    @AfterEach
    void nothingIsLeft() {
        assertThat(runtime).hasNoOpenTensors();
    }

    @RepeatedTest(2)
    void methodsBeginWithoutTheScriptsAndCallsOfOthers() {
        assertThat(programs.calls()).isEmpty();
        assertThatIllegalArgumentException().isThrownBy(() -> programs.function("letters.classify"));
        programs.program(
                "letters", letters -> letters.function("classify", "() -> i32").returns(7));
        invocations.invoke("letters.classify").close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"tensor<4xf32> -> tensor<4xf32>", "tensor<4xf32> -> (i32)", "(i32)", "(i32 -> i32"})
    void signaturesWithoutParenthesesAreToldAsWritten(String signature) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> programs.program("letters", letters -> letters.function("classify", signature)))
                .withMessage(
                        "signature '%s' is not of the form (tensor<4xf32>, i32) -> tensor<4xf32>".formatted(signature));
    }

    @Test
    void resultsAreCheckedLikeInputs() {
        assertRefused(Tensor.of(new float[] {1, 2}, 1, 2), "1x2xf32");
        assertRefused(Tensor.of(new double[] {1}, 1, 1), "1x1xf64");
        assertRefused(1f, "the Float 1.0");
        programs.program(
                "letters", letters -> letters.function("count", "() -> i64").returns(Tensor.of(new float[] {1})));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> invocations.invoke("letters.count"))
                .withMessageContaining("the script of 'count' returns 1xf32 as result 0, but the function returns i64");
    }

    @ParameterizedTest
    @CsvSource({
        "i32, 2.7",
        "i32, 2147483648",
        "i32, NaN",
        "i64, 9223372036854775808",
        "i64, 0.5",
        "f32, 1e39",
        "f32, -1e300"
    })
    void numbersTooLargeForATypeAreRefused(String type, double value) {
        programs.program(
                "letters", letters -> letters.function("count", "() -> " + type).returns(value));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> invocations.invoke("letters.count"))
                .withMessageContaining(
                        "the script of 'count' returns the Double %s as result 0, but the function returns %s"
                                .formatted(value, type));
    }

    @Test
    void numbersOfOtherClassesAreConverted() {
        programs.program(
                "letters",
                letters -> letters.function("all", "() -> (i32, i64, f32, f32, f64)")
                        .returns(-2147483648.0, Long.MAX_VALUE, 0.1, Double.POSITIVE_INFINITY, 7));
        try (Results results = invocations.invoke("letters.all")) {
            assertThat(results.intValue(0)).isEqualTo(Integer.MIN_VALUE);
            assertThat(results.longValue(1)).isEqualTo(Long.MAX_VALUE);
            assertThat(results.floatValue(2)).isEqualTo(0.1f);
            assertThat(results.floatValue(3)).isInfinite();
            assertThat(results.doubleValue(4)).isEqualTo(7);
        }
    }

    @Test
    void functionsHeldByBeansFollowTheScriptsOfLaterMethods() {
        ProgramFunction held = loaded.function("digits.count");
        programs.reset();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> held.invoke(40, new byte[] {0, 2}))
                .withMessageContaining("program 'digits' was unloaded");
        script();
        try (Results results = held.invoke(40, new byte[] {0, 2})) {
            assertThat(results.longValue(0)).isEqualTo(42);
        }
    }

    private void assertRefused(Object result, String described) {
        script();
        programs.function("digits.classify").returns(result);
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> digits.classify(new float[][] {{1, 2}}))
                .withMessageContaining(
                        "the script of 'classify' returns %s as result 0, but the function returns tensor<?x1xf32>"
                                .formatted(described));
    }

    @Test
    void clientsReceiveScriptedResults() {
        programs.function("digits.classify").returns(Tensor.of(new float[] {7}, 1, 1));
        assertThat(digits.classify(new float[][] {{1, 2}})[0]).containsExactly(7);
        assertThat(digits.classify(new float[][] {{3, 4}})[0])
                .as("the last one stays")
                .containsExactly(7);
        assertThat(programs).wereCalled("digits.classify", "digits.classify");
    }

    @Test
    void scriptsComputeFromInputs() {
        try (Results results = invocations.invoke("digits.count", 40, new byte[] {0, 2})) {
            assertThat(results.longValue(0)).isEqualTo(42);
        }
    }

    @Test
    void callsFailAsScriptedAndThenContinue() {
        programs.function("digits.classify")
                .fails(StatusCode.UNAVAILABLE, "warming up")
                .returns(Tensor.of(new float[] {1}, 1, 1));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> digits.classify(new float[][] {{1, 2}}))
                .withMessageContaining("warming up")
                .extracting(IreeException::code)
                .isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(digits.classify(new float[][] {{1, 2}})[0]).containsExactly(1);
    }

    @Test
    void unscriptedFunctionIsReported() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> digits.classify(new float[][] {{1, 2}}))
                .withMessageContaining("'classify' has no script");
    }

    @Test
    void inputsAreCheckedLikeInputsOfRealPrograms() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> digits.classify(new float[][] {{1, 2, 3}}))
                .withMessageContaining("tensor<?x2xf32>");
    }

    @Test
    void callsTakeOnlyVirtualTime() {
        programs.function("digits.classify").returns(Tensor.of(new float[] {7}, 1, 1));
        Duration before = programs.now();
        digits.classify(new float[][] {{1, 2}});
        digits.classify(new float[][] {{1, 2}});
        assertThat(programs.now().minus(before)).isEqualTo(Duration.ofMillis(6));
    }

    /** The device runs calls in the order of submission, so the fence decides only where another call comes first. */
    @Test
    void fencesOrderCalls() {
        programs.function("digits.classify").returns(Tensor.of(new float[] {7}, 1, 1));
        try (Fence begin = runtime.createFence("begin")) {
            Submission<Results> first = invocations
                    .request("digits.classify")
                    .inputs(Tensor.of(new float[] {1, 2}, 1, 2))
                    .after(begin)
                    .submit();
            Submission<Results> second = invocations
                    .request("digits.count")
                    .inputs(1, new byte[] {0, 0})
                    .after(first.fence())
                    .submit();
            digits.classify(new float[][] {{1, 2}});
            begin.signal();
            first.await().close();
            second.await().close();
        }
        assertThat(programs).ranOneAfterTheOther("digits.classify", "digits.classify", "digits.count");
    }

    @Test
    void timelinesAreAtTheLastSignalledPoint() {
        try (Timeline timeline = runtime.createTimeline()) {
            timeline.at(2).signal();
            assertThat(timeline).isAt(2).hasReached(1);
        }
    }

    @Test
    void assertionsFailAsTheyShould() {
        programs.function("digits.classify").returns(Tensor.of(new float[] {7}, 1, 1));
        digits.classify(new float[][] {{1, 2}});
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> assertThat(programs).wereCalled("digits.count"))
                .withMessageContaining("digits.classify");
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> assertThat(programs).ranOneAfterTheOther("digits.classify", "digits.count"));
        try (Timeline timeline = runtime.createTimeline()) {
            assertThatExceptionOfType(AssertionError.class)
                    .isThrownBy(() -> assertThat(timeline).isAt(1));
            assertThatExceptionOfType(AssertionError.class)
                    .isThrownBy(() -> assertThat(timeline).hasFailedWith(StatusCode.ABORTED));
            timeline.at(1).fail(IreeException.of(StatusCode.ABORTED, "lost"));
            assertThat(timeline).hasFailedWith(StatusCode.ABORTED);
        }
        try (Results open = invocations.invoke("digits.classify", Tensor.of(new float[] {1, 2}, 1, 2))) {
            assertThat(open.size()).isEqualTo(1);
            assertThatExceptionOfType(AssertionError.class)
                    .isThrownBy(() -> assertThat(runtime).hasNoOpenTensors());
        }
    }

    @Test
    void excludesApplicationComponents(@Autowired ApplicationContext context) {
        assertThat(context.getBeanNamesForType(Unrelated.class)).isEmpty();
    }

    @Test
    @EnabledIfIreeDriver("virtual")
    void runsWithTheDriver() {
        assertThat(runtime.devices()).allMatch(device -> device.id().startsWith("test-"));
    }

    @Test
    @EnabledIfIreeDriver("abacus")
    void isSkippedWithoutTheDriver() {
        throw new AssertionError("there is no driver 'abacus'");
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration
    @org.springframework.context.annotation.ComponentScan(
            excludeFilters =
                    @org.springframework.context.annotation.ComponentScan.Filter(
                            type = org.springframework.context.annotation.FilterType.CUSTOM,
                            classes = org.springframework.boot.context.TypeExcludeFilter.class))
    static class Application {}
}
