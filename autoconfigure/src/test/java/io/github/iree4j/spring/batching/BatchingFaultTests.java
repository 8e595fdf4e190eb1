package io.github.iree4j.spring.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.spring.InvocationChain;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A single batch at a time, of two rows at most: trouble around a batch neither loses its calls nor keeps out the next
 * batch.
 */
@Timeout(300)
class BatchingFaultTests {
    private static final Duration DELAY = Duration.ofMillis(10);

    private final IreeRuntime runtime =
            IreeRuntime.builder().memoryLimit(1 << 20).build();
    private final RowsProgram rows = new RowsProgram(runtime);
    private final ManualTimer timer = new ManualTimer();
    private final AtomicReference<@Nullable Throwable> inChain = new AtomicReference<>(); // thrown once
    private final AtomicReference<@Nullable Throwable> inListener = new AtomicReference<>();
    private final DynamicBatching batching = new DynamicBatching(
            Map.of("rows", BatchingOptions.DEFAULTS.maxSize(2).maxDelay(DELAY).maxInFlight(1)),
            timer,
            (_, _, _, _, _, _) -> raise(inListener));

    @AfterEach
    void nothingIsLeft() {
        assertThat(runtime.monitor().leaks().openTensors()).as("open tensors").isZero();
        assertThat(batching.queueCount()).as("queues").isZero();
        assertThat(timer.planned()).as("timers").isZero();
        batching.close();
        rows.close();
        runtime.close();
    }

    private static void raise(AtomicReference<@Nullable Throwable> given) {
        switch (given.getAndSet(null)) {
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case null, default -> {}
        }
    }

    private CompletableFuture<Results> call(InvocationChain chain, float... values) {
        return batching.intercept(rows.request("twice", false, values), chain);
    }

    private static float[] result(CompletableFuture<Results> call) {
        assertThat(call).isCompleted();
        try (Results results = call.join()) {
            return results.tensor(0).toFloatArray();
        }
    }

    @ParameterizedTest
    @CsvSource({"1, true", "1, false", "2, true", "2, false"})
    void exceptionsOfTheApplicationAroundABatchFailItsCallsAndTheNextIsMade(int calls, boolean ofListener) {
        InvocationChain chain = request -> {
            raise(inChain);
            return RowsProgram.callHere(request);
        };
        for (Throwable thrown : List.of(new IllegalStateException("not open"), new LinkageError("not there"))) {
            (ofListener ? inListener : inChain).set(thrown);
            List<CompletableFuture<Results>> failing = new ArrayList<>();
            for (int i = 0; i < calls; i++) {
                failing.add(call(chain, i, i));
            }
            timer.advance(DELAY.toNanos());
            for (CompletableFuture<Results> each : failing) {
                assertThat(each).isCompletedExceptionally();
                assertThat(each.exceptionNow())
                        .isInstanceOf(IreeException.class)
                        .hasMessageContaining(thrown.getMessage())
                        .hasCause(thrown);
                assertThat(((IreeException) each.exceptionNow()).code()).isEqualTo(StatusCode.INTERNAL);
            }
            CompletableFuture<Results> next = call(chain, 3, 4);
            timer.advance(DELAY.toNanos());
            assertThat(result(next)).containsExactly(6, 8);
        }
    }

    /** Takes all memory of the device, with ever smaller pieces. */
    private List<Tensor> fill() {
        List<Tensor> fillers = new ArrayList<>();
        for (int size = 1 << 18; size > 0; ) {
            try {
                fillers.add(runtime.upload(Tensor.of(new byte[size], size)));
            } catch (IreeException e) {
                size /= 2;
            }
        }
        return fillers;
    }

    @Test
    void callersGetTheirRowsThoughTheDeviceIsFullWhenTheBatchEnds() {
        List<Tensor> fillers = new ArrayList<>();
        InvocationChain chain = request -> {
            CompletableFuture<Results> made = RowsProgram.callHere(request);
            fillers.addAll(fill());
            return made;
        };
        CompletableFuture<Results> first = call(chain, 1, 2);
        CompletableFuture<Results> second = call(chain, 3, 4);
        fillers.forEach(Tensor::close);
        assertThat(result(first)).containsExactly(2, 4);
        assertThat(result(second)).containsExactly(6, 8);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theResultsOfABatchHaveLeftTheDeviceWhenTheNextIsCalled(boolean fits) {
        List<Long> live = new ArrayList<>();
        List<CompletableFuture<Results>> made = new ArrayList<>();
        InvocationChain chain = _ -> {
            live.add(runtime.device().allocator().statistics().bytesLive());
            made.add(new CompletableFuture<>());
            return made.getLast();
        };
        List<CompletableFuture<Results>> calls = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            calls.add(call(chain, i, i));
        }
        float[] values = new float[fits ? 4 : 2]; // too few rows cannot be divided
        made.getFirst()
                .complete(RowsProgram.callHere(rows.request("twice", true, values))
                        .join());
        assertThat(live).as("before each batch").containsExactly(0L, 0L);
        assertThat(calls.subList(0, 2))
                .allSatisfy(call -> assertThat(call.isCompletedExceptionally()).isNotEqualTo(fits));
        made.get(1)
                .complete(RowsProgram.callHere(rows.request("twice", true, 1, 1, 1, 1))
                        .join());
        for (CompletableFuture<Results> call : calls) {
            if (!call.isCompletedExceptionally()) {
                call.join().close();
            }
        }
    }
}
