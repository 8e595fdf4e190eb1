package io.github.iree4j.module;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.CallOptions;
import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.pool.ConsumerStatistics;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.asm.VmAssembler;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Modules with tensors as arguments and results, like IREE's {@code custom_module/sync} and {@code
 * custom_module/async}.
 */
class TensorModuleTest {
    private final IreeRuntime runtime = IreeRuntime.create();

    @AfterEach
    void close() {
        runtime.close();
        // An abandoned call frees its inputs on a separate thread.
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (runtime.device().allocator().statistics().bytesLive() != 0 && System.nanoTime() < deadline) {
            Thread.onSpinWait();
        }
        assertThat(runtime.device().allocator().statistics().bytesLive())
                .as("bytes of tensors still allocated")
                .isZero();
    }

    @IreeModule("custom")
    static final class Doubler {
        final CountDownLatch go = new CountDownLatch(1);

        @Export("call.sync")
        Tensor twice(Tensor input) {
            int[] values = input.toIntArray();
            for (int i = 0; i < values.length; i++) {
                values[i] *= 2;
            }
            return Tensor.of(values, input.shape().dimensions());
        }

        @Export("call.same")
        Tensor same(Tensor input) {
            return input;
        }

        @Export("call.view")
        BufferView view(BufferView input) {
            return input;
        }

        /** Doubles in place once the input is ready, on a separate thread. */
        @Export("call.async")
        BufferView twice(BufferView input, Fence wait, Fence signal) {
            input.retain();
            wait.retain();
            signal.retain();
            Thread.ofVirtual().start(() -> {
                try {
                    wait.await();
                    go.await();
                    MemorySegment memory =
                            input.buffer().map(MemoryAccess.READ | MemoryAccess.WRITE, 0, input.byteLength());
                    for (int i = 0; i < input.shape().elementCount(); i++) {
                        int value = memory.getAtIndex(ValueLayout.JAVA_INT, i);
                        memory.setAtIndex(ValueLayout.JAVA_INT, i, 2 * value);
                    }
                    input.release(); // before signalling
                    signal.signal();
                } catch (IreeException e) {
                    signal.fail(e);
                } catch (InterruptedException e) {
                    signal.fail(IreeException.of(StatusCode.CANCELLED, "interrupted", e));
                } finally {
                    wait.release();
                    signal.release();
                }
            });
            return input;
        }

        @Export("later")
        CompletableFuture<Integer> later(int value) {
            CompletableFuture<Integer> result = new CompletableFuture<>();
            Thread.ofVirtual().start(() -> {
                try {
                    go.await();
                    result.complete(value + 1);
                } catch (InterruptedException e) {
                    result.completeExceptionally(e);
                }
            });
            return result;
        }

        @Export("never")
        CompletableFuture<Tensor> never(Tensor input) {
            return new CompletableFuture<>();
        }

        @Export("broken")
        CompletableFuture<Integer> broken() {
            return CompletableFuture.failedFuture(new IllegalArgumentException("no such thing"));
        }
    }

    private static final String MAIN = """
            vm.module @example version 0
            vm.type !hal.buffer_view
            vm.type !hal.fence
            vm.import @custom.call.sync cconv "0r_r"
            vm.import @custom.call.same cconv "0r_r"
            vm.import @custom.call.view cconv "0r_r"
            vm.import @custom.call.async cconv "0rrr_r"
            vm.import @custom.later cconv "0i_i"
            vm.import @custom.never cconv "0r_r"
            vm.import @custom.broken cconv "0v_i"
            vm.export @main
            vm.export @async
            vm.export @later
            vm.export @never
            vm.export @broken
            vm.func @main(%r0: !hal.buffer_view) -> (!hal.buffer_view) {
              vm.attr "iree.abi.declaration" = "sync func @main(%x: tensor<?xi32>) -> (%y: tensor<?xi32>)"
            ^bb0:
              %r0 = vm.call @custom.call.same(%R0)
              %r0 = vm.call @custom.call.sync(%R0)
              %r0 = vm.call @custom.call.view(%R0)
              vm.return %R0
            }
            vm.func @async(%r0: !hal.buffer_view, %r1: !hal.fence, %r2: !hal.fence) -> (!hal.buffer_view) {
              vm.attr "iree.abi.declaration" = "async func @async(%x: tensor<?xi32>) -> (%y: tensor<?xi32>)"
              vm.attr "iree.abi.model" = "coarse-fences"
            ^bb0:
              %r0 = vm.call @custom.call.async(%R0, %R1, %R2)
              vm.return %R0
            }
            vm.func @later(%i0: i32) -> (i32) {
            ^bb0:
              %i0 = vm.call @custom.later(%i0)
              %i0 = vm.call @custom.later(%i0)
              vm.return %i0
            }
            vm.func @never(%r0: !hal.buffer_view) -> (!hal.buffer_view) {
            ^bb0:
              %r0 = vm.call @custom.never(%R0)
              vm.return %R0
            }
            vm.func @broken() -> (i32) {
            ^bb0:
              %i0 = vm.call @custom.broken()
              vm.return %i0
            }
            """;

    private Program load(Doubler module) {
        return runtime.load(ProgramOptions.builder()
                .module(JavaModule.of(module))
                .module("main", VmAssembler.assemble(MAIN))
                .build());
    }

    @Test
    void tensorsPassThroughJavaMethods() {
        try (Program program = load(new Doubler());
                Results results = program.function("main").invoke(new int[] {1, 2, 3})) {
            assertThat(results.tensor(0)).hasToString("3xi32=2 4 6");
        }
    }

    @Test
    void tensorsReturnedByJavaMethodsAreOnTheAccountOfTheProgram() {
        try (Program program = load(new Doubler());
                Results results = program.function("main").invoke(new int[] {1, 2, 3})) {
            assertThat(results.size()).isEqualTo(1);
            assertThat(runtime.device().allocator().poolStatistics().consumers())
                    .filteredOn(each -> each.bytesTransient() + each.bytesPersistent() > 0)
                    .extracting(ConsumerStatistics::consumer)
                    .containsExactly("main");
        }
    }

    @Test
    void aMethodWithFencesReturnsBeforeItsWorkIsDone() throws Exception {
        Doubler module = new Doubler();
        try (Program program = load(module);
                var timeline = runtime.createTimeline();
                Fence start = timeline.at(1);
                Fence done = timeline.at(2);
                Tensor input = runtime.upload(Tensor.of(new int[] {1, 2, 3}))) {
            CompletableFuture<Results> call = program.function("async")
                    .call(CallOptions.DEFAULTS.after(start).signal(done), input);
            try (Results results = call.get()) {
                assertThat(done.isReached()).isFalse();
                start.signal();
                assertThat(done.isReached()).isFalse();
                module.go.countDown();
                done.await();
                assertThat(results.tensor(0)).hasToString("3xi32=2 4 6");
            }
        }
    }

    @Test
    void aMethodReturningAFutureMakesTheProgramWait() throws Exception {
        Doubler module = new Doubler();
        try (Program program = load(module)) {
            CompletableFuture<Results> call = program.function("later").invokeAsync(40);
            assertThat(call).isNotDone();
            module.go.countDown();
            try (Results results = call.get()) {
                assertThat(results.intValue(0)).isEqualTo(42);
            }
        }
    }

    @Test
    void aFailedFutureFailsTheCallWithItsMessage() {
        try (Program program = load(new Doubler())) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("broken").invoke())
                    .withMessageContaining("'custom.broken' (CompletableFuture Doubler.broken())")
                    .withMessageContaining("no such thing")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
        }
    }

    @Test
    void anAbandonedCallCancelsTheFutureAndFreesItsArguments() {
        try (Program program = load(new Doubler())) {
            CompletableFuture<Results> call = program.function("never").invokeAsync(Tensor.of(new int[] {1}));
            call.cancel(true);
            try (Results results = program.function("main").invoke(new int[] {4})) { // the program is free again
                assertThat(results.tensor(0)).hasToString("1xi32=8");
            }
        }
    }
}
