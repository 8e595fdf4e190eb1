package io.github.iree4j.spring.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.CallOptions;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.Results;
import io.github.iree4j.spring.InvocationRequest;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.vm.NativeModule;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which functions can be batched; a function that cannot is called as without batching. */
class BatchableTests {
    private final IreeRuntime runtime = IreeRuntime.create();

    @AfterEach
    void close() {
        runtime.close();
    }

    /** Loads a program with a function of the given arguments and results. */
    private Program program(String convention, String values) {
        return runtime.load(ProgramOptions.builder()
                .module(NativeModule.builder("m", 1, Object::new)
                        .function("f", convention, (state, call) -> {})
                        .attribute("iree.abi.declaration", "sync func @f" + values)
                        .build())
                .build());
    }

    private static void assertRefused(Program program, String reason) {
        assertThat(DynamicBatching.refusal(program).orElseThrow())
                .startsWith("calls of 'm.f' cannot be batched: " + reason + "; all arguments and results");
    }

    @Test
    void theRefusalNamesTheFirstValueThatDoesNotFit() {
        try (Program scalar = program("0rr_r", "(%x: tensor<?x2xf32>, %size: tensor<f32>) -> (%y: tensor<?xf32>)");
                Program number = program("0ri_r", "(%x: tensor<?xf32>, %n: i32) -> (%y: tensor<?xf32>)");
                Program other = program("0r_r", "(%x: tensor<4xf32>) -> (%y: tensor<8xf32>)");
                Program unnamed = program("0r_r", "(%x: tensor<?xf32>) -> (tensor<f32>)")) {
            assertRefused(scalar, "'size' is tensor<f32>");
            assertRefused(number, "'n' is i32");
            assertRefused(other, "first dimensions differ: 'y' is tensor<8xf32>");
            assertRefused(unnamed, "a value is tensor<f32>");
        }
    }

    @Test
    void theNumberOfRowsIsTheSizeOfTheFirstDimension() {
        try (Program any = program("0r_r", "(%x: tensor<?x2xf32>) -> (%y: tensor<?xf32>)");
                Program four = program("0rr_r", "(%x: tensor<4xf32>, %z: tensor<4x4xf32>) -> (%y: tensor<4xf32>)")) {
            assertThat(DynamicBatching.refusal(any)).isEmpty();
            assertThat(DynamicBatching.takesFixedRowsOnly(any)).isFalse();
            assertThat(DynamicBatching.refusal(four)).isEmpty();
            assertThat(DynamicBatching.takesFixedRowsOnly(four)).isTrue();
        }
    }

    /** For example a function that returns the state of the program. */
    @Test
    void aFunctionWithoutArgumentsIsCalledByItself() {
        try (Program state = program("0v_r", "() -> (%y: tensor<4xf32>)");
                DynamicBatching batching = new DynamicBatching(
                        Map.of("m", BatchingOptions.DEFAULTS), BatchTimer.system(), BatchListener.NONE)) {
            InvocationRequest request = new InvocationRequest(
                    new LoadedProgram(ProgramSource.of("m", "m.vmfb"), List.of(state)),
                    state.function("f"),
                    List.of(),
                    CallOptions.DEFAULTS,
                    false);
            CompletableFuture<Results> call = new CompletableFuture<>();
            assertThat(batching.intercept(request, made -> made == request ? call : null))
                    .isSameAs(call);
            assertThat(DynamicBatching.takesFixedRowsOnly(state)).isTrue();
            assertRefused(state, "it has no arguments");
        }
    }
}
