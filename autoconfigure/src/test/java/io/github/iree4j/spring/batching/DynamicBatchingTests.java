package io.github.iree4j.spring.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.ProgramOptions;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.spring.InvocationChain;
import io.github.iree4j.spring.InvocationRequest;
import io.github.iree4j.spring.LoadedProgram;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.MDC;

/** Batching with a manual clock, on the test thread unless stated otherwise. */
@Timeout(900)
class DynamicBatchingTests {

    private static final long MILLI = 1_000_000;
    private static final BatchingOptions USUAL = BatchingOptions.DEFAULTS
            .maxSize(4)
            .maxDelay(Duration.ofMillis(10))
            .maxWaiting(16)
            .maxInFlight(1);

    private final IreeRuntime runtime = IreeRuntime.create();
    private final AtomicInteger calls = new AtomicInteger();
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch go = new CountDownLatch(1);
    private final Program program = runtime.load(ProgramOptions.builder()
            .module(NativeModule.builder("rows", 1, () -> runtime)
                    .function("twice", "0r_r", this::twice)
                    .attribute("iree.abi.declaration", "sync func @twice(%x: tensor<?x2xf32>) -> (%y: tensor<?x2xf32>)")
                    .function("four", "0r_r", this::twice)
                    .attribute("iree.abi.declaration", "sync func @four(%x: tensor<4x2xf32>) -> (%y: tensor<4x2xf32>)")
                    .function("any", "0r_r", this::twice)
                    .attribute("iree.abi.declaration", "sync func @any(%x: tensor<?x?xf32>) -> (%y: tensor<?x?xf32>)")
                    .function("slow", "0r_r", this::slow)
                    .attribute("iree.abi.declaration", "sync func @slow(%x: tensor<?x2xf32>) -> (%y: tensor<?x2xf32>)")
                    .function("fails", "0r_r", (r, call) -> {
                        throw IreeException.of(StatusCode.DATA_LOSS, "the root cause");
                    })
                    .attribute("iree.abi.declaration", "sync func @fails(%x: tensor<?x2xf32>) -> (%y: tensor<?x2xf32>)")
                    .function("whole", "0r_r", this::twice)
                    .attribute("iree.abi.declaration", "sync func @whole(%x: tensor<2xf32>) -> (%y: tensor<f32>)")
                    .build())
            .build());
    private final LoadedProgram loaded = new LoadedProgram(ProgramSource.of("rows", "rows.vmfb"), List.of(program));
    private final ManualTimer timer = new ManualTimer();
    private final List<String> batches = new ArrayList<>();
    private DynamicBatching batching = batching(USUAL.maxInFlight(4));
    private final InvocationChain onThisThread = request -> {
        try {
            return CompletableFuture.completedFuture(
                    request.function().invoke(request.inputs().toArray()));
        } catch (IreeException e) {
            return CompletableFuture.failedFuture(e);
        }
    };
    private final InvocationChain onWorkers = request ->
            request.function().call(request.options(), request.inputs().toArray());

    @AfterEach
    void nothingIsLeft() {
        go.countDown();
        batching.close();
        long deadline = System.nanoTime() + 60_000 * MILLI;
        // Callers receive their results before the queue is discarded.
        while ((program.monitor().activeCalls() > 0 || batching.queueCount() > 0) && System.nanoTime() < deadline) {
            Poll.pause();
        }
        assertThat(runtime.monitor().leaks().openTensors()).as("open tensors").isZero();
        assertThat(batching.queueCount()).as("queues").isZero();
        assertThat(timer.planned()).as("timers").isZero();
        program.close();
        runtime.close();
    }

    private DynamicBatching batching(BatchingOptions options) {
        return new DynamicBatching(
                Map.of("rows", options),
                timer,
                (model, function, count, rows, padded, nanos) -> batches.add("%s.%s %d calls %d of %d rows after %d ms"
                        .formatted(model, function, count, rows, padded, nanos / MILLI)));
    }

    private void twice(IreeRuntime state, VmCall call) {
        calls.incrementAndGet();
        BufferView in = call.required(BufferView.class);
        float[] values = in.buffer()
                .map(MemoryAccess.READ, 0, in.byteLength())
                .toArray(java.lang.foreign.ValueLayout.JAVA_FLOAT);
        Buffer buffer = runtime.device().allocator().allocate(BufferParams.DEFAULT, in.byteLength());
        try {
            for (int i = 0; i < values.length; i++) {
                values[i] *= 2;
            }
            buffer.map(MemoryAccess.WRITE, 0, in.byteLength())
                    .copyFrom(java.lang.foreign.MemorySegment.ofArray(values));
            call.returnRef(BufferView.create(buffer, in.shape(), in.elementType(), in.encoding()));
        } finally {
            buffer.release();
        }
    }

    private void slow(IreeRuntime state, VmCall call) {
        entered.countDown();
        try {
            go.await();
        } catch (InterruptedException e) {
            throw IreeException.of(StatusCode.CANCELLED, "interrupted", e);
        }
        twice(state, call);
    }

    private CompletableFuture<Results> call(String function, @Nullable Duration deadline, int priority, Object input) {
        return call(onThisThread, function, deadline, priority, input);
    }

    private CompletableFuture<Results> call(
            InvocationChain chain, String function, @Nullable Duration deadline, int priority, Object input) {
        ProgramFunction found = program.function(function);
        return batching.intercept(
                new InvocationRequest(
                        loaded,
                        found,
                        Arrays.asList(input),
                        io.github.iree4j.CallOptions.DEFAULTS.timeout(deadline).priority(priority),
                        false),
                chain);
    }

    private CompletableFuture<Results> call(float... row) {
        return call("twice", null, 0, Tensor.of(row, row.length / 2, 2));
    }

    private static float[] result(CompletableFuture<Results> future) {
        assertThat(future).isCompleted();
        try (Results results = future.join()) {
            return results.tensor(0).toFloatArray();
        }
    }

    private static StatusCode code(CompletableFuture<Results> future) {
        return ((IreeException) future.exceptionNow()).code();
    }

    /** A clock of simulated time without waits: actions run before being scheduled. */
    private static final class ClockOfItself implements BatchTimer {
        private long now;

        @Override
        public synchronized long nanoTime() {
            return now;
        }

        @Override
        public Runnable schedule(long nanos, Runnable action) {
            synchronized (this) {
                now += nanos;
            }
            action.run();
            return () -> {};
        }

        @Override
        public Runnable deadline(long nanos, Runnable action) {
            return () -> {};
        }
    }

    @Test
    void aSelfAdvancingClockWakesEveryBatch() throws Exception {
        batching.close();
        batching = new DynamicBatching(Map.of("rows", USUAL), new ClockOfItself(), BatchListener.NONE);
        CompletableFuture<Results> first = call(onWorkers, "slow", null, 0, Tensor.of(new float[2], 1, 2));
        entered.await();
        CompletableFuture<Results> second = call(onWorkers, "slow", null, 0, Tensor.of(new float[2], 1, 2));
        go.countDown(); // the second waits from before the end of the first
        first.join().close();
        second.get(1, TimeUnit.MINUTES).close();
    }

    @Test
    void fullBatchIsCalledImmediately() {
        CompletableFuture<Results> a = call(1, 2);
        CompletableFuture<Results> b = call(3, 4, 5, 6);
        assertThat(a).isNotDone();
        CompletableFuture<Results> c = call(7, 8);
        assertThat(result(a)).containsExactly(2, 4);
        assertThat(result(b)).containsExactly(6, 8, 10, 12);
        assertThat(result(c)).containsExactly(14, 16);
        assertThat(calls).hasValue(1);
        assertThat(batches).containsExactly("rows.twice 3 calls 4 of 4 rows after 0 ms");
    }

    @Test
    void delaysMayBeLongerThanNanosecondsCanSay() {
        batching.close();
        batching = batching(USUAL.maxDelay(Duration.ofDays(300 * 365)));
        CompletableFuture<Results> a = call(1, 2);
        assertThat(a).isNotDone();
        CompletableFuture<Results> b = call(3, 4, 5, 6, 7, 8);
        assertThat(result(a)).containsExactly(2, 4);
        assertThat(result(b)).containsExactly(6, 8, 10, 12, 14, 16);
    }

    @Test
    void firstCallWaitsNoLongerThanTheDelay() {
        CompletableFuture<Results> a = call(1, 2);
        timer.advance(6 * MILLI);
        CompletableFuture<Results> b = call(3, 4);
        timer.advance(3 * MILLI);
        assertThat(a).isNotDone();
        timer.advance(MILLI);
        assertThat(result(a)).containsExactly(2, 4);
        assertThat(result(b)).containsExactly(6, 8);
        assertThat(batches).containsExactly("rows.twice 2 calls 2 of 2 rows after 10 ms");
    }

    @Test
    void callsWaitNoLongerThanHalfTheirDeadline() {
        CompletableFuture<Results> a = call(1, 2);
        CompletableFuture<Results> hurried =
                call("twice", Duration.ofMillis(4), 0, Tensor.of(new float[] {3, 4}, 1, 2));
        timer.advance(MILLI);
        assertThat(hurried).isNotDone();
        timer.advance(MILLI);
        assertThat(result(hurried)).containsExactly(6, 8);
        assertThat(result(a)).containsExactly(2, 4);
    }

    @Test
    void javaArraysBecomeTensors() {
        CompletableFuture<Results> a = call("twice", null, 0, new float[][] {{1, 2}, {3, 4}});
        timer.advance(10 * MILLI);
        assertThat(result(a)).containsExactly(2, 4, 6, 8);
    }

    @Test
    void batchesArePaddedToTheNextBucket() {
        batching = batching(USUAL.maxSize(8).buckets(List.of(8, 4, 1)).maxInFlight(4));
        CompletableFuture<Results> a = call(1, 2);
        CompletableFuture<Results> b = call(3, 4);
        timer.advance(10 * MILLI);
        assertThat(result(a)).containsExactly(2, 4);
        assertThat(result(b)).containsExactly(6, 8);
        CompletableFuture<Results> alone = call(5, 6);
        timer.advance(10 * MILLI);
        assertThat(result(alone)).containsExactly(10, 12);
        assertThat(batches)
                .containsExactly(
                        "rows.twice 2 calls 2 of 4 rows after 10 ms", "rows.twice 1 calls 1 of 1 rows after 10 ms");
    }

    @Test
    void fixedSizeFunctionIsPadded() {
        CompletableFuture<Results> a = call("four", null, 0, Tensor.of(new float[] {1, 2}, 1, 2));
        CompletableFuture<Results> b = call("four", null, 0, Tensor.of(new float[] {3, 4}, 1, 2));
        timer.advance(10 * MILLI);
        assertThat(result(a)).containsExactly(2, 4);
        assertThat(result(b)).containsExactly(6, 8);
        assertThat(batches).containsExactly("rows.four 2 calls 2 of 4 rows after 10 ms");
    }

    @Test
    void onlyEqualShapesAreMerged() {
        CompletableFuture<Results> two = call("any", null, 0, Tensor.of(new float[] {1, 2}, 1, 2));
        CompletableFuture<Results> three = call("any", null, 0, Tensor.of(new float[] {1, 2, 3}, 1, 3));
        assertThat(batching.queueCount()).isEqualTo(2);
        timer.advance(10 * MILLI);
        assertThat(result(two)).containsExactly(2, 4);
        assertThat(result(three)).containsExactly(2, 4, 6);
        assertThat(calls).hasValue(2);
    }

    @Test
    void higherPriorityIsTakenFirst() {
        batching = batching(USUAL.maxSize(2));
        CompletableFuture<Results> running = call(onWorkers, "slow", null, 0, Tensor.of(new float[4], 2, 2));
        CompletableFuture<Results> low = call(onWorkers, "slow", null, 0, Tensor.of(new float[] {1, 1, 1, 1}, 2, 2));
        CompletableFuture<Results> high = call(onWorkers, "slow", null, 5, Tensor.of(new float[] {2, 2}, 1, 2));
        CompletableFuture<Results> other = call(onWorkers, "slow", null, 5, Tensor.of(new float[] {3, 3}, 1, 2));
        go.countDown();
        running.join().close();
        assertThat(result(joined(high))).containsExactly(4, 4);
        assertThat(result(joined(other))).containsExactly(6, 6);
        assertThat(result(joined(low))).containsExactly(2, 2, 2, 2);
        assertThat(batches.get(1)).startsWith("rows.slow 2 calls 2 of 2");
    }

    private static CompletableFuture<Results> joined(CompletableFuture<Results> future) {
        future.join();
        return future;
    }

    @Test
    void callCancelledWhileWaitingIsNotMade() {
        CompletableFuture<Results> a = call(1, 2);
        CompletableFuture<Results> b = call(3, 4);
        assertThat(a.cancel(true)).isTrue();
        timer.advance(10 * MILLI);
        assertThat(result(b)).containsExactly(6, 8);
        assertThat(batches).containsExactly("rows.twice 1 calls 1 of 1 rows after 10 ms");
    }

    @Test
    void callWithADeadlineExpiringDuringItsWaitFails() {
        batching = batching(USUAL.maxSize(1));
        CompletableFuture<Results> running = call(onWorkers, "slow", null, 0, Tensor.of(new float[2], 1, 2));
        CompletableFuture<Results> late =
                call(onWorkers, "slow", Duration.ofMillis(4), 0, Tensor.of(new float[2], 1, 2));
        timer.advance(4 * MILLI);
        assertThat(code(late)).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        assertThat(late.exceptionNow()).hasMessageContaining("'rows.slow'").hasMessageContaining("4 ms");
        go.countDown();
        running.join().close();
        assertThat(calls).hasValue(1);
    }

    @Test
    void callWithADeadlineExpiringInABatchFailsAlone() throws Exception {
        CompletableFuture<Results> late =
                call(onWorkers, "slow", Duration.ofMillis(8), 0, Tensor.of(new float[] {1, 2}, 1, 2));
        CompletableFuture<Results> other = call(onWorkers, "slow", null, 0, Tensor.of(new float[] {3, 4}, 1, 2));
        timer.advance(4 * MILLI);
        entered.await();
        timer.advance(4 * MILLI);
        assertThat(code(late)).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        assertThat(other).isNotDone();
        go.countDown();
        assertThat(result(joined(other))).containsExactly(6, 8);
    }

    @Test
    void batchIsCancelledWhenAllCallersHaveCancelled() throws Exception {
        CompletableFuture<Results> a = call(onWorkers, "slow", null, 0, Tensor.of(new float[2], 1, 2));
        CompletableFuture<Results> b = call(onWorkers, "slow", null, 0, Tensor.of(new float[2], 1, 2));
        timer.advance(10 * MILLI);
        entered.await();
        a.cancel(true);
        assertThat(program.monitor().activeCalls()).isEqualTo(1);
        b.cancel(true);
        while (program.monitor().activeCalls() > 0) { // the program itself never resumes
            Poll.pause();
        }
        assertThat(calls).hasValue(0);
    }

    @Test
    void nextBatchGathersDuringABatchInFlight() throws Exception {
        batching = batching(USUAL);
        CompletableFuture<Results> first = call(onWorkers, "slow", null, 0, Tensor.of(new float[2], 1, 2));
        timer.advance(10 * MILLI);
        entered.await();
        CompletableFuture<Results> second = call(onWorkers, "slow", null, 0, Tensor.of(new float[] {1, 1}, 1, 2));
        timer.advance(100 * MILLI);
        CompletableFuture<Results> third = call(onWorkers, "slow", null, 0, Tensor.of(new float[] {2, 2}, 1, 2));
        go.countDown();
        first.join().close();
        assertThat(result(joined(second))).containsExactly(2, 2);
        assertThat(result(joined(third))).containsExactly(4, 4);
        assertThat(batches).hasSize(2);
    }

    @Test
    void rejectsCallsWhenTheQueueIsFull() {
        batching = batching(USUAL.maxSize(8).maxWaiting(2));
        CompletableFuture<Results> a = call(1, 2, 3, 4);
        CompletableFuture<Results> refused = call(5, 6);
        assertThat(code(refused)).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(refused.exceptionNow()).hasMessageContaining("2 rows wait").hasMessageContaining("limit is 2");
        timer.advance(10 * MILLI);
        result(a);
    }

    @Test
    void failureOfABatchFailsEachCall() {
        CompletableFuture<Results> a = call("fails", null, 0, Tensor.of(new float[2], 1, 2));
        CompletableFuture<Results> b = call("fails", null, 0, Tensor.of(new float[2], 1, 2));
        timer.advance(10 * MILLI);
        assertThat(code(a)).isEqualTo(StatusCode.DATA_LOSS);
        assertThat(code(b)).isEqualTo(StatusCode.DATA_LOSS);
    }

    /** Each fits by itself; later batches are smaller, until smaller batches have succeeded for a while. */
    @Test
    void callsOfABatchWithoutMemoryAreMadeOneAfterAnother() {
        List<Long> made = new ArrayList<>();
        InvocationChain tight = request -> {
            long rows = ((Tensor) request.inputs().getFirst()).shape().dimension(0);
            made.add(rows);
            return rows > 2
                    ? CompletableFuture.failedFuture(IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "no memory"))
                    : onThisThread.proceed(request);
        };
        for (int round = 0; round < 2; round++) {
            List<CompletableFuture<Results>> answers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                answers.add(call(tight, "twice", null, 0, Tensor.of(new float[] {i, i}, 1, 2)));
            }
            timer.advance(10 * MILLI);
            for (int i = 0; i < 4; i++) {
                assertThat(result(answers.get(i))).containsExactly(2 * i, 2 * i);
            }
        }
        assertThat(made).startsWith(4L, 1L, 1L, 1L, 1L, 2L, 2L);
        CompletableFuture<Results> never = call(tight, "twice", null, 0, Tensor.of(new float[6], 3, 2));
        timer.advance(10 * MILLI);
        assertThat(code(never)).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
    }

    @Test
    void theFirstInLineIsInTheNextBatchThoughSmallerCallsWouldFillIt() {
        batching = batching(USUAL);
        List<Long> made = new ArrayList<>();
        CompletableFuture<@Nullable Void> held = new CompletableFuture<>();
        InvocationChain tight = request -> {
            long rows = ((Tensor) request.inputs().getFirst()).shape().dimension(0);
            made.add(rows);
            return rows > 3
                    ? CompletableFuture.failedFuture(IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "no memory"))
                    : made.size() == 6
                            ? held.thenCompose(_ -> onThisThread.proceed(request))
                            : onThisThread.proceed(request);
        };
        List<CompletableFuture<Results>> answers = new ArrayList<>();
        for (int rows : new int[] {1, 1, 1, 1, 2, 3, 1, 1}) { // after the first four, two rows make a batch
            answers.add(call(tight, "twice", null, 0, Tensor.of(new float[2 * rows], rows, 2)));
        }
        held.complete(null);
        answers.forEach(answer -> result(answer));
        assertThat(made).containsExactly(4L, 1L, 1L, 1L, 1L, 2L, 3L, 2L);
    }

    @Test
    void tensorClosedTooEarlyFailsOnlyItsCall() {
        Tensor closed = Tensor.of(new float[2], 1, 2);
        CompletableFuture<Results> a = call("twice", null, 0, closed);
        CompletableFuture<Results> b = call(3, 4);
        closed.close();
        timer.advance(10 * MILLI);
        assertThat(code(a)).isEqualTo(StatusCode.FAILED_PRECONDITION);
        assertThat(result(b)).containsExactly(6, 8);
    }

    @Test
    void waitingCallsOfAnUnloadedProgramAreMadeIndividually() {
        CompletableFuture<Results> a = call(1, 2);
        CompletableFuture<Results> b = call(3, 4);
        program.close(); // the end of the chain would find its successor
        timer.advance(10 * MILLI);
        assertThat(code(a)).isEqualTo(StatusCode.FAILED_PRECONDITION);
        assertThat(code(b)).isEqualTo(StatusCode.FAILED_PRECONDITION);
    }

    @Test
    void waitingCallsOfAnUnloadedProgramKeepTheRowsOfTheirFunction() {
        ProgramOptions options = ProgramOptions.builder()
                .module(NativeModule.builder("fixed", 1, Object::new)
                        .function("four", "0r_r", (state, call) -> twice(runtime, call))
                        .attribute(
                                "iree.abi.declaration", "sync func @four(%x: tensor<4x2xf32>) -> (%y: tensor<4x2xf32>)")
                        .build())
                .build();
        Program unloaded = runtime.load(options);
        try (Program successor = runtime.load(options)) {
            InvocationChain found = request -> onThisThread.proceed(new InvocationRequest(
                    loaded, successor.function("four"), request.inputs(), request.options(), false));
            List<CompletableFuture<Results>> calls = new ArrayList<>();
            for (float[] rows : new float[][] {{1, 2}, {3, 4, 5, 6}}) {
                calls.add(batching.intercept(
                        new InvocationRequest(
                                loaded,
                                unloaded.function("four"),
                                List.of(Tensor.of(rows, rows.length / 2, 2)),
                                io.github.iree4j.CallOptions.DEFAULTS,
                                false),
                        found));
            }
            unloaded.close();
            timer.advance(10 * MILLI);
            assertThat(result(calls.get(0))).containsExactly(2, 4);
            assertThat(result(calls.get(1))).containsExactly(6, 8, 10, 12);
        }
    }

    @Test
    void callsOfAnUncombinableBatchAreMadeOneAfterAnother() {
        List<CompletableFuture<Results>> made = new ArrayList<>();
        InvocationChain slow = request -> {
            CompletableFuture<Results> call = new CompletableFuture<>();
            made.add(call);
            return call;
        };
        ProgramOptions options = ProgramOptions.builder()
                .module(NativeModule.builder("any", 1, Object::new)
                        .function("twice", "0r_r", (state, call) -> twice(runtime, call))
                        .attribute("iree.abi.declaration", "sync func @twice(%x: tensor<?xf32>) -> (%y: tensor<?xf32>)")
                        .build())
                .build();
        Program unloaded = runtime.load(options);
        List<CompletableFuture<Results>> calls = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            calls.add(batching.intercept(
                    new InvocationRequest(
                            loaded,
                            unloaded.function("twice"),
                            List.of(Tensor.of(new float[] {i}, 1)),
                            io.github.iree4j.CallOptions.DEFAULTS,
                            false),
                    slow));
        }
        unloaded.close();
        timer.advance(10 * MILLI);
        assertThat(made).hasSize(1);
        made.get(0).completeExceptionally(IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "no memory"));
        assertThat(code(calls.get(0))).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(made).hasSize(2);
        calls.get(2).cancel(true); // gone before its turn
        made.get(1).completeExceptionally(IreeException.of(StatusCode.INTERNAL, "failed"));
        assertThat(code(calls.get(1))).isEqualTo(StatusCode.INTERNAL);
        assertThat(made).hasSize(2);
    }

    @Test
    void largeCallIsMadeAlone() {
        assertThat(result(call(new float[10]))).hasSize(10);
        assertThat(batches).isEmpty();
    }

    @Test
    void closingCallsTheWaitingEntries() {
        CompletableFuture<Results> a = call(1, 2);
        batching.close();
        assertThat(result(a)).containsExactly(2, 4);
        assertThat(result(call(3, 4))).containsExactly(6, 8);
    }

    @Test
    void aFunctionWithoutRowsIsCalledByItselfBesideFunctionsWithRows() {
        assertThat(result(call("whole", null, 0, Tensor.of(new float[] {1, 2}, 2))))
                .containsExactly(2, 4);
        assertThat(batches).isEmpty();
    }

    @Test
    void concurrentCallersReceiveTheirOwnRows() throws Exception {
        batching = new DynamicBatching(
                Map.of(
                        "rows",
                        BatchingOptions.DEFAULTS
                                .maxSize(16)
                                .buckets(List.of(4, 8, 16))
                                .maxWaiting(10_000)),
                BatchTimer.system(),
                BatchListener.NONE);
        List<Thread> threads = new ArrayList<>();
        AtomicInteger wrong = new AtomicInteger();
        for (int t = 0; t < 8; t++) {
            int mine = t;
            threads.add(Thread.startVirtualThread(() -> {
                for (int i = 0; i < 200; i++) {
                    float value = mine * 1000 + i;
                    CompletableFuture<Results> future =
                            call(onWorkers, "twice", null, i % 3, Tensor.of(new float[] {value, -value}, 1, 2));
                    if (i % 7 == 0) {
                        future.cancel(true);
                    }
                    try (Results results = future.join()) {
                        if (results.tensor(0).toFloatArray()[0] != 2 * value) {
                            wrong.incrementAndGet();
                        }
                    } catch (CompletionException | java.util.concurrent.CancellationException e) {
                        wrong.addAndGet(i % 7 == 0 ? 0 : 1);
                    }
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(wrong).hasValue(0);
        assertThat(calls.get()).isLessThan(1600);
        while (batching.queueCount() > 0) { // the last cancelled calls
            Poll.pause();
        }
    }

    /** The diagnostic context stands for everything bound to a caller, such as a span. */
    @Test
    void aBatchIsMadeInTheContextOfItsFirstCallerOnAnyThread() {
        batching = batching(USUAL);
        List<@Nullable String> seen = new ArrayList<>();
        List<CompletableFuture<Results>> made = new ArrayList<>();
        InvocationChain chain = _ -> {
            seen.add(MDC.get("caller"));
            made.add(new CompletableFuture<>());
            return made.getLast();
        };
        try {
            as("first", chain, 1);
            as("second", chain, 1);
            MDC.put("caller", "the timer");
            timer.advance(10 * MILLI);
            as("third", chain, 3);
            as("fourth", chain, 1); // fills the batch behind the batch in flight
            as("fifth", chain, 1);
            MDC.put("caller", "the end of the first");
            made.get(0).completeExceptionally(IreeException.of(StatusCode.ABORTED, "lost"));
            timer.advance(10 * MILLI);
            assertThat(MDC.get("caller")).isEqualTo("the end of the first");
            made.get(1).completeExceptionally(IreeException.of(StatusCode.ABORTED, "lost"));
            timer.advance(10 * MILLI);
            made.get(2).completeExceptionally(IreeException.of(StatusCode.ABORTED, "lost"));
            MDC.clear();
            call(chain, "twice", null, 0, Tensor.of(new float[4], 2, 2));
            as("sixth", chain, 2); // fills the batch
            made.get(3).completeExceptionally(IreeException.of(StatusCode.ABORTED, "lost"));
        } finally {
            MDC.clear();
        }
        assertThat(seen).containsExactly("first", "third", "fifth", null);
    }

    private void as(String caller, InvocationChain chain, int rows) {
        MDC.put("caller", caller);
        call(chain, "twice", null, 0, Tensor.of(new float[2 * rows], rows, 2));
    }
}
