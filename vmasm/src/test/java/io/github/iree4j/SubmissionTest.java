package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.asm.VmAssembler;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls submitted to timelines, before any of the waits is reached. */
@Timeout(300)
class SubmissionTest {
    /**
     * Functions with fences: the first fills an element of the given buffer, the second copies the element to the next.
     */
    private static final String DEVICE_FUNCTIONS = """
            vm.module @device version 0
            vm.type !hal.device
            vm.type !hal.buffer
            vm.type !hal.fence
            vm.import @hal.devices.get cconv "0i_r"
            vm.import @hal.device.queue.fill cconv "0rIrrrIIIiI_v"
            vm.import @hal.device.queue.copy cconv "0rIrrrIrIII_v"
            vm.export @fn0
            vm.export @fn1
            vm.func @fn0(%r0: !hal.buffer, %r1: !hal.fence, %r2: !hal.fence) -> () {
              vm.attr "iree.abi.declaration" = "async func @fn0(%x: !hal.buffer) -> ()"
              vm.attr "iree.abi.model" = "coarse-fences"
            ^bb0:
              %i0 = vm.const.i32 0
              %r3 = vm.call @hal.devices.get(%i0)
              %i2:3 = vm.const.i64 1
              %i4:5 = vm.const.i64.zero
              %i6:7 = vm.const.i64 4
              %i8:9 = vm.const.i64 7
              %i10 = vm.const.i32 4
              vm.call @hal.device.queue.fill(%r3, %i2:3, %r1, %r2, %r0, %i4:5, %i6:7, %i8:9, %i10, %i4:5)
              vm.return
            }
            vm.func @fn1(%r0: !hal.buffer, %r1: !hal.fence, %r2: !hal.fence) -> () {
              vm.attr "iree.abi.declaration" = "async func @fn1(%x: !hal.buffer) -> ()"
              vm.attr "iree.abi.model" = "coarse-fences"
            ^bb0:
              %i0 = vm.const.i32 0
              %r3 = vm.call @hal.devices.get(%i0)
              %i2:3 = vm.const.i64 1
              %i4:5 = vm.const.i64.zero
              %i6:7 = vm.const.i64 4
              vm.call @hal.device.queue.copy(%r3, %i2:3, %r1, %r2, %r0, %i4:5, %r0, %i6:7, %i6:7, %i4:5)
              vm.return
            }
            """;

    private final IreeRuntime runtime = IreeRuntime.create();
    private final Timeline timeline = runtime.createTimeline();
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch go = new CountDownLatch(1);
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger closedStates = new AtomicInteger();
    private final AtomicReference<Program> self = new AtomicReference<>();
    private final List<Integer> order = new ArrayList<>();

    @AfterEach
    void nothingIsLeft() {
        go.countDown();
        timeline.close();
        runtime.close();
        awaitEndOfPrograms();
        assertThat(runtime.device().allocator().statistics().bytesLive())
                .as("bytes of inputs and results still allocated")
                .isZero();
    }

    /** Submissions end on separate threads; a closed program is freed after the last. */
    private void awaitEndOfPrograms() {
        while (!runtime.programs().isEmpty()) {
            Thread.onSpinWait();
        }
    }

    private final class State implements AutoCloseable {
        @Override
        public void close() {
            closedStates.incrementAndGet();
        }
    }

    private VmModule hostFunctions() {
        return NativeModule.builder("host", 1, State::new)
                .function("fn2", "0r_v", (s, c) -> {
                    Buffer x = c.required(Buffer.class);
                    set(x, 2, 2 * get(x, 0));
                })
                .attribute("iree.abi.declaration", "sync func @fn2(%x: !hal.buffer) -> ()")
                .function("fn3", "0r_v", (s, c) -> set(c.required(Buffer.class), 3, 9))
                .attribute("iree.abi.declaration", "sync func @fn3(%x: !hal.buffer) -> ()")
                .function("fn4", "0rrr_v", this::fn4)
                .attribute("iree.abi.declaration", "async func @fn4(%x: !hal.buffer) -> ()")
                .attribute("iree.abi.model", "coarse-fences")
                .function("count", "0v_i", (s, c) -> c.returnI32(calls.incrementAndGet()))
                .function("sum", "0ii_i", (s, c) -> c.returnI32(c.i32() + c.i32()))
                .function("same", "0r_r", (s, c) -> c.returnRef(retained(c.ref(Object.class))))
                .function("fail", "0v_v", (s, c) -> {
                    throw IreeException.of(StatusCode.DATA_LOSS, "the root cause");
                })
                .function("crash", "0v_v", (s, c) -> {
                    throw new IllegalStateException("a bug in a Java module");
                })
                .function("stay", "0v_v", this::stay)
                .function(
                        "nested", "0v_v", (s, c) -> self.get().function("count").invokeAsync())
                .function("note", "0irr_i", this::note)
                .attribute("iree.abi.model", "coarse-fences")
                .function("forgetful", "0rr_v", (s, c) -> c.ref(Fence.class))
                .attribute("iree.abi.model", "coarse-fences")
                .function("refuse", "0rr_v", (s, c) -> {
                    throw IreeException.of(StatusCode.ABORTED, "refused");
                })
                .attribute("iree.abi.model", "coarse-fences")
                .build();
    }

    private void fn4(Object state, VmCall call) {
        Buffer x = call.required(Buffer.class);
        runtime.device().queue(0).hostCall(call.ref(Fence.class), call.required(Fence.class), () -> set(x, 4, 5), 0);
    }

    private void note(Object state, VmCall call) {
        int number = call.i32();
        order.add(number); // calls of the same program have happens-before between them
        runtime.device().queue(0).barrier(call.ref(Fence.class), call.ref(Fence.class), 0);
        call.returnI32(number);
    }

    private void stay(Object state, VmCall call) {
        entered.countDown();
        try {
            go.await();
        } catch (InterruptedException e) {
            throw IreeException.of(StatusCode.CANCELLED, "interrupted inside", e);
        }
    }

    private static Object retained(Object object) {
        if (object instanceof io.github.iree4j.lifetime.RefCounted counted) {
            counted.retain();
        }
        return object;
    }

    private static void set(Buffer buffer, int index, int value) {
        buffer.map(MemoryAccess.WRITE, 4L * index, 4).set(ValueLayout.JAVA_INT, 0, value);
    }

    private static int get(Buffer buffer, int index) {
        return buffer.map(MemoryAccess.READ, 4L * index, 4).get(ValueLayout.JAVA_INT, 0);
    }

    private Program program() {
        Program program = runtime.load(ProgramOptions.builder()
                .module(hostFunctions())
                .module("device", VmAssembler.assemble(DEVICE_FUNCTIONS))
                .build());
        self.set(program);
        return program;
    }

    private Tensor onDevice(int... values) {
        try (Tensor tensor = Tensor.of(values, values.length)) {
            return runtime.upload(tensor);
        }
    }

    private static void assertFails(StatusCode code, String message, ThrowingCallable call) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(call)
                .withMessageContaining(message)
                .satisfies(e -> assertThat(e.code()).isEqualTo(code));
    }

    private static void assertFailed(Fence fence, StatusCode code, String message) {
        assertFails(code, message, fence::await);
        assertThat(fence.query()).isEqualTo(code);
    }

    // -- the example

    @Test
    void fiveFunctionsOnThreeFencesAreSubmittedBeforeAnythingExecutes() throws Exception {
        try (Program program = program();
                Tensor x = onDevice(0, 0, 0, 0, 0);
                Fence a = timeline.at(1);
                Fence b = timeline.at(2);
                Fence c = timeline.at(3)) {
            program.function("fn0")
                    .call(CallOptions.DEFAULTS.after(a).signal(b), x)
                    .get()
                    .close(); // submitted; its contents are ready at b
            program.function("fn1")
                    .call(CallOptions.DEFAULTS.after(b).signal(c), x)
                    .get()
                    .close();
            CompletableFuture<Results> second =
                    program.function("fn2").call(CallOptions.DEFAULTS.after(b).signal(c), x);
            CompletableFuture<Results> third = program.function("fn3").call(CallOptions.DEFAULTS.signal(c), x);
            program.function("fn4")
                    .call(CallOptions.DEFAULTS.after(a).signal(c), x)
                    .get()
                    .close();

            third.get().close(); // has no waits, so nothing delays it
            assertThat(second).isNotDone();
            assertThat(timeline.value())
                    .as("a single signaller of four has signalled c")
                    .isZero();
            assertThat(x.toIntArray()).containsExactly(0, 0, 0, 9, 0);

            a.signal();
            c.await();
            assertThat(second.resultNow().size()).isZero();
            assertThat(timeline.value()).isEqualTo(3);
            assertThat(x.toIntArray()).containsExactly(7, 7, 14, 9, 5);
        }
    }

    @Test
    void aPointMayBeSaidToTakeSeveralSignals() throws Exception {
        try (Program program = program();
                Fence done = timeline.at(1, 3)) {
            program.function("count").call(CallOptions.DEFAULTS.signal(done)).get();
            program.function("note").call(CallOptions.DEFAULTS.signal(done), 1).get();
            program.function("count").call(CallOptions.DEFAULTS.signal(done)).get();
            done.await();
            assertThat(calls).hasValue(2);
        }
    }

    @Test
    void workOfTheHostHasItsPlaceOnAnAxis() throws Exception {
        try (Program program = program();
                Fence first = timeline.at(1);
                Fence second = timeline.at(2);
                Fence both = timeline.at(3, 2)) {
            program.function("count").call(CallOptions.DEFAULTS.signal(first)).get();
            program.function("count")
                    .call(CallOptions.DEFAULTS.after(first).signal(second))
                    .get();
            second.await();
            Frontier before = Objects.requireNonNull(timeline.semaphore().frontierAt(1));
            Frontier after = Objects.requireNonNull(timeline.semaphore().frontierAt(2));
            long axis = after.producerAxis();
            assertThat(Axis.domain(axis)).isEqualTo(CausalDomain.HOST);
            assertThat(before.producerAxis()).isEqualTo(axis);
            assertThat(after.producerEpoch()).isGreaterThan(before.producerEpoch());
            assertThat(runtime.device().schedulingDomain().tracker().completed(axis))
                    .isGreaterThanOrEqualTo(after.producerEpoch());

            program.function("count")
                    .call(CallOptions.DEFAULTS.after(second).signal(both))
                    .get(); // the host
            program.function("note")
                    .call(CallOptions.DEFAULTS.after(second).signal(both), 1)
                    .get(); // and a queue
            both.await();
            Frontier joined = Objects.requireNonNull(timeline.semaphore().frontierAt(3));
            assertThat(joined.epochOf(axis)).isGreaterThan(after.producerEpoch());
            assertThat(joined.size()).isEqualTo(2);
        }
    }

    @Test
    void reachedPointsTakeNoFurtherSignal() throws Exception {
        try (Program program = program();
                Tensor x = onDevice(0, 0, 0, 0, 0);
                Fence done = timeline.at(1)) {
            program.function("count").call(CallOptions.DEFAULTS.signal(done)).get();
            done.await();
            assertFails(
                    StatusCode.INVALID_ARGUMENT,
                    "semaphore value 1 takes no further signal: it is reached",
                    () -> program.function("fn3").call(CallOptions.DEFAULTS.signal(done), x));
            assertThat(timeline.semaphore().failure()).isNull();
        }
    }

    @Test
    void fencesOnSeveralTimelinesJoinAndFork() throws Exception {
        try (Program program = program();
                Timeline other = runtime.createTimeline();
                Fence a = timeline.at(1);
                Fence b = other.at(1);
                Fence both = Fence.join(a, b);
                Fence c = timeline.at(2);
                Fence d = other.at(2);
                Fence fork = Fence.join(c, d)) {
            CompletableFuture<Results> sum = program.function("sum")
                    .call(CallOptions.DEFAULTS.after(both).signal(fork), 1, 2);
            a.signal();
            assertThat(sum).isNotDone();
            b.signal();
            c.await();
            d.await();
            try (Results results = sum.resultNow()) {
                assertThat(results.intValue(0)).isEqualTo(3);
            }
        }
    }

    @Test
    void callsWithFencesAreMadeInTheOrderOfSubmission() throws Exception {
        int count = 500;
        List<Integer> expected = new ArrayList<>();
        try (Program program = program()) {
            List<CompletableFuture<Results>> all = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                expected.add(i);
                all.add(program.function("note").invokeAsync(i));
            }
            for (CompletableFuture<Results> each : all) {
                each.get().close();
            }
        }
        assertThat(order).isEqualTo(expected);
    }

    @Test
    void callsMaySubmitToTheirOwnProgram() throws Exception {
        Program program = program();
        program.function("nested").invoke().close();
        program.retire();
        awaitEndOfPrograms();
        assertThat(calls).hasValue(1);
    }

    // -- failures

    @Test
    void aFailedFenceFailsTheNextWithTheRootCauseAndNothingRuns() {
        try (Program program = program();
                Timeline after = runtime.createTimeline();
                Timeline later = runtime.createTimeline();
                Fence a = timeline.at(1);
                Fence b = after.at(1);
                Fence c = later.at(1)) {
            CompletableFuture<Results> host =
                    program.function("count").call(CallOptions.DEFAULTS.after(a).signal(b));
            program.function("note").call(CallOptions.DEFAULTS.after(b).signal(c), 1);
            a.fail(IreeException.of(StatusCode.DATA_LOSS, "the root cause"));
            assertFailed(b, StatusCode.DATA_LOSS, "the root cause");
            assertFailed(c, StatusCode.DATA_LOSS, "the root cause");
            assertThat(host)
                    .failsWithin(java.time.Duration.ofSeconds(50))
                    .withThrowableThat()
                    .withStackTraceContaining("the root cause");
        }
        assertThat(calls).hasValue(0);
    }

    @Test
    void failuresOfAFunctionFailItsFence() {
        try (Program program = program();
                Timeline second = runtime.createTimeline();
                Timeline third = runtime.createTimeline();
                Fence a = timeline.at(1);
                Fence b = second.at(1);
                Fence c = third.at(1)) {
            program.function("fail").call(CallOptions.DEFAULTS.signal(a));
            assertFailed(a, StatusCode.DATA_LOSS, "the root cause");
            program.function("crash").call(CallOptions.DEFAULTS.signal(b));
            assertFailed(b, StatusCode.INTERNAL, "a bug in a Java module");
            program.function("refuse").call(CallOptions.DEFAULTS.signal(c));
            assertFailed(c, StatusCode.ABORTED, "refused");
        }
    }

    @Test
    void anAbandonedTimelineCancelsItsWaiters() {
        Timeline given = runtime.createTimeline();
        try (Program program = program();
                Fence done = timeline.at(1)) {
            try (Fence never = given.at(1)) {
                program.function("count").call(CallOptions.DEFAULTS.after(never).signal(done));
            }
            given.close();
            assertFailed(done, StatusCode.CANCELLED, "closed before it reached 1");
        }
        assertThat(calls).hasValue(0);
    }

    @Test
    void aProgramForgettingItsFenceFailsTheFuture() {
        try (Program program = program()) {
            assertThat(program.function("forgetful").invokeAsync())
                    .failsWithin(java.time.Duration.ofSeconds(50))
                    .withThrowableThat()
                    .withStackTraceContaining("semaphore was closed");
        }
    }

    @Test
    void impossibleSubmissionsAreRefusedAndLeaveNothingBehind() {
        Program program = program();
        Tensor x = onDevice(0);
        Fence closed = timeline.at(1);
        closed.close();
        ProgramFunction same = program.function("same");
        assertFails(StatusCode.FAILED_PRECONDITION, "closed", () -> same.call(CallOptions.DEFAULTS.after(closed), x));
        assertFails(StatusCode.FAILED_PRECONDITION, "closed", () -> same.call(CallOptions.DEFAULTS.signal(closed), x));
        assertFails(StatusCode.INVALID_ARGUMENT, "takes 1 argument;", () -> same.invokeAsync(x, x));
        x.close();
        assertFails(StatusCode.FAILED_PRECONDITION, "argument 0", () -> same.invokeAsync(x));
        program.close();
        assertFails(StatusCode.FAILED_PRECONDITION, "closed", () -> same.invokeAsync(1));
        runtime.close();
        assertFails(StatusCode.FAILED_PRECONDITION, "runtime is closed", runtime::createTimeline);
    }

    // -- cancellation

    @Test
    void cancellingAWaitingCallFailsItsFenceAtOnce() {
        try (Program program = program();
                Timeline after = runtime.createTimeline();
                Fence a = timeline.at(1);
                Fence b = after.at(1)) {
            CompletableFuture<Results> future =
                    program.function("count").call(CallOptions.DEFAULTS.after(a).signal(b));
            assertThat(future.cancel(true)).isTrue();
            assertThat(b.query()).isEqualTo(StatusCode.CANCELLED);
            a.signal();
            assertThatExceptionOfType(CancellationException.class).isThrownBy(future::get);
        }
        awaitEndOfPrograms();
        assertThat(calls).hasValue(0);
    }

    @Test
    void cancellingARunningCallFailsItsFence() throws Exception {
        try (Program program = program();
                Fence done = timeline.at(1)) {
            CompletableFuture<Results> future = program.function("stay").call(CallOptions.DEFAULTS.signal(done));
            entered.await();
            assertThat(future.cancel(true)).isTrue();
            assertFailed(done, StatusCode.CANCELLED, "");
        }
    }

    @Test
    void aCallEndedAheadOfItsFenceNoLongerWaitsForIt() throws Exception {
        try (Program program = program();
                Timeline after = runtime.createTimeline();
                Fence a = timeline.at(1);
                Fence b = after.at(1)) {
            CompletableFuture<Results> first = program.function("stay").invokeAsync();
            entered.await();
            CompletableFuture<Results> future =
                    program.function("note").call(CallOptions.DEFAULTS.after(a).signal(b), 1);
            assertThat(timeline.semaphore().isAwaited(1)).isTrue();
            assertThat(future.cancel(true)).isTrue();
            assertFailed(b, StatusCode.CANCELLED, "");
            assertThat(timeline.semaphore().isAwaited(1)).isFalse();
            go.countDown();
            first.get().close();
        }
        assertThat(order).isEmpty();
    }

    @Test
    void aDeadlineHoldsUntilTheFenceIsReachedAlthoughTheResultsWerePromised() {
        try (Program program = runtime.load(Fixtures.file("3.13.0/cpu-async/dynamic_add.vmfb"));
                Tensor x = Tensor.of(new float[] {1, 2}, 2);
                Timeline after = runtime.createTimeline();
                Fence a = timeline.at(1);
                Fence b = after.at(1)) {
            CallOptions options = CallOptions.DEFAULTS.after(a).signal(b).timeout(Duration.ofSeconds(1));
            program.function("add").call(options, x, x).join().close();
            assertFailed(
                    b,
                    StatusCode.DEADLINE_EXCEEDED,
                    "call of 'module.add' took longer than 1 s, waiting for timeline %d to reach 1, currently 0"
                            .formatted(timeline.semaphore().id()));
            while (program.monitor().activeCalls() > 0
                    || runtime.device().allocator().statistics().bytesLive() > 0) {
                Thread.onSpinWait(); // leaves on a separate thread
            }
        }
    }

    // -- ownership and closing

    @Test
    void inputsAndFencesMayBeClosedRightAfterSubmission() throws Exception {
        try (Program program = program();
                Fence done = timeline.at(2)) {
            CompletableFuture<Results> future;
            try (Tensor x = onDevice(1, 2);
                    Fence start = timeline.at(1)) {
                future = program.function("same")
                        .call(CallOptions.DEFAULTS.after(start).signal(done), x);
            }
            timeline.semaphore().signal(1);
            done.await();
            try (Results results = future.resultNow()) {
                assertThat(results.tensor(0).toIntArray()).containsExactly(1, 2);
            }
        }
    }

    @Test
    void retiringLetsSubmittedWorkFinish() throws Exception {
        Program program = program();
        Tensor x = onDevice(0, 0, 0, 0, 0);
        Fence a = timeline.at(1);
        Fence b = timeline.at(2);
        Fence c = timeline.at(3);
        program.function("fn0")
                .call(CallOptions.DEFAULTS.after(a).signal(b), x)
                .get()
                .close();
        program.function("fn1")
                .call(CallOptions.DEFAULTS.after(b).signal(c), x)
                .get()
                .close();
        program.function("fn2").call(CallOptions.DEFAULTS.after(b).signal(c), x);
        program.retire();
        assertThat(closedStates).as("work needs the program").hasValue(0);
        a.signal();
        c.await();
        assertThat(x.toIntArray()).containsExactly(7, 7, 14, 0, 0);
        for (Fence fence : List.of(a, b, c)) {
            fence.close();
        }
        x.close();
        awaitEndOfPrograms();
        assertThat(closedStates).hasValue(1);
    }

    @Test
    void retiringLetsSubmittedWorkFailWithItsFence() {
        Program program = program();
        Fence a = timeline.at(1);
        try (Timeline after = runtime.createTimeline();
                Fence b = after.at(1)) {
            program.function("count").call(CallOptions.DEFAULTS.after(a).signal(b));
            program.retire();
            a.fail(IreeException.of(StatusCode.ABORTED, "given up"));
            assertFailed(b, StatusCode.ABORTED, "given up");
        }
        a.close();
        awaitEndOfPrograms();
        assertThat(closedStates).hasValue(1);
    }

    @Test
    void manySubmissionsWaitAndRunWithoutLosingAny() throws ExecutionException, InterruptedException {
        int count = 2000;
        try (Program program = program();
                Tensor x = Tensor.zeros(ElementType.I32, 1)) {
            List<CompletableFuture<Results>> all = new ArrayList<>();
            try (Fence a = timeline.at(1);
                    Fence c = timeline.at(2)) {
                for (int i = 0; i < count; i++) {
                    all.add(
                            i % 2 == 0
                                    ? program.function("count")
                                            .call(CallOptions.DEFAULTS.after(a).signal(c))
                                    : program.function("note")
                                            .call(CallOptions.DEFAULTS.after(a).signal(c), i));
                }
                all.add(program.function("same")
                        .call(CallOptions.DEFAULTS.after(a).signal(c), x));
                a.signal();
                c.await();
            }
            for (CompletableFuture<Results> each : all) {
                each.get().close();
            }
        }
        assertThat(calls).hasValue(count / 2);
        assertThat(order).hasSize(count / 2);
    }
}
