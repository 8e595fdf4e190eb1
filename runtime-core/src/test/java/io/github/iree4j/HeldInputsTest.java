package io.github.iree4j;

import static io.github.iree4j.InputsInLineTest.await;
import static io.github.iree4j.InputsInLineTest.awaitInput;
import static io.github.iree4j.InputsInLineTest.blocking;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.module.JavaModule;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Calls behind a call whose inputs wait in line: their order, and their end. An input or result takes 64 bytes; a queue
 * operation without a call takes the rest, unknown to the gate.
 */
@Timeout(60)
class HeldInputsTest {
    private static final long UNIT = 64;
    private static final long LIMIT = 64 * UNIT;
    private static final float[] FOUR = {1, 2, 3, 4};
    private static final float[] LARGE = new float[128]; // 8 units

    private final List<Buffer> taken = new ArrayList<>();
    private IntSupplier code = () -> 0;

    private static IreeRuntime open() {
        return open(Duration.ofMinutes(5));
    }

    private static IreeRuntime open(Duration hostWait) {
        return open(hostWait, LIMIT);
    }

    /** {@code quota} is for the consumer "limited". */
    private static IreeRuntime open(Duration hostWait, long quota) {
        DeviceOptions options = DeviceOptions.builder()
                .memoryQuota("limited", quota)
                .memoryLimit(LIMIT)
                .memoryWait(Duration.ofMinutes(5))
                .memoryHostWait(hostWait)
                .build();
        return IreeRuntime.builder()
                .device("a", "local://", options)
                .device("b", "local://", options)
                .build();
    }

    private static Program load(IreeRuntime runtime, String file) {
        return runtime.load(Fixtures.file("3.13.0/" + file + ".vmfb"));
    }

    private static long live(Device device) {
        return device.allocator().statistics().bytesLive();
    }

    private static long committed(Device device) {
        return Objects.requireNonNull(device.allocator().gate()).committed();
    }

    /** Takes memory of a device, except for some units. */
    private void takeAllBut(Device device, int units) {
        while (live(device) < LIMIT - units * UNIT) {
            taken.add(InputsInLineTest.take(device.queue(0), BufferParams.DEFAULT, UNIT));
        }
    }

    private void giveBack() {
        taken.forEach(Buffer::close);
        taken.clear();
    }

    /** The way in which a call behind the waiting call ends. */
    enum End {
        CANCEL,
        BY_NUMBER,
        TIMEOUT
    }

    @ParameterizedTest
    @EnumSource
    void aCallEndedBehindAWaitingCallLeavesNothing(End end) {
        try (IreeRuntime runtime = open();
                Program program = load(runtime, "cpu/add");
                Timeline timeline = runtime.createTimeline();
                Fence signal = timeline.at(1)) {
            ProgramFunction add = program.function("add");
            add.invoke(FOUR, FOUR).close();
            takeAllBut(runtime.device(), 0);
            CompletableFuture<Results> first = add.invokeAsync(FOUR, FOUR);
            awaitInput(runtime.device());
            long committed = committed(runtime.device());
            CompletableFuture<Results> second = end == End.TIMEOUT
                    ? blocking(() -> add.call(CallOptions.DEFAULTS.timeout(Duration.ofMillis(50)), FOUR, FOUR)
                            .await())
                    : add.call(CallOptions.DEFAULTS.signal(signal), FOUR, FOUR);
            await("both calls", () -> program.monitor().activeCalls() == 2);
            switch (end) {
                case CANCEL -> second.cancel(false);
                case BY_NUMBER ->
                    assertThat(program.monitor()
                                    .cancelCall(program.monitor()
                                            .pendingCalls(2)
                                            .getLast()
                                            .id()))
                            .isTrue();
                case TIMEOUT -> {}
            }
            await(
                    "the end of the second",
                    () -> program.monitor().activeCalls() == 1 && committed(runtime.device()) == committed);
            if (end != End.TIMEOUT) {
                assertThatExceptionOfType(IreeException.class).isThrownBy(signal::await);
            }
            await("the failure of the second", second::isCompletedExceptionally); // a blocked caller has to wake up
            assertThat(first).isNotDone();
            giveBack();
            first.join().close();
        }
    }

    /** The cancelled call has the memory missing in the call ahead. */
    @Test
    void aTensorOfACallCancelledBehindAWaitingCallIsReleased() {
        try (IreeRuntime runtime = open();
                Program program = load(runtime, "cpu/dynamic_add")) {
            ProgramFunction add = program.function("add");
            add.invoke(FOUR, FOUR).close();
            Tensor left = runtime.upload(Tensor.of(LARGE.clone(), LARGE.length));
            Tensor right = runtime.upload(Tensor.of(LARGE.clone(), LARGE.length));
            add.invoke(left, right).close();
            takeAllBut(runtime.device(), 0);
            CompletableFuture<Results> first = add.invokeAsync(FOUR, FOUR);
            awaitInput(runtime.device());
            CompletableFuture<Results> second = add.invokeAsync(left.transfer(), right.transfer());
            assertThat(first).isNotDone();
            second.cancel(false);
            first.join().close();
            giveBack();
        }
    }

    @Test
    void aBlockingCallBehindAWaitingCallIsListedAndCanBeCancelled() {
        try (IreeRuntime runtime = open();
                Program program = load(runtime, "cpu/add")) {
            ProgramFunction add = program.function("add");
            add.invoke(FOUR, FOUR).close();
            takeAllBut(runtime.device(), 0);
            CompletableFuture<Results> first = add.invokeAsync(FOUR, FOUR);
            awaitInput(runtime.device());
            CompletableFuture<Results> second = blocking(() -> add.invoke(FOUR, FOUR));
            await("both calls", () -> program.monitor().pendingCalls(3).size() == 2);
            assertThat(program.monitor()
                            .cancelCall(
                                    program.monitor().pendingCalls(2).getLast().id()))
                    .isTrue();
            assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(second::join)
                    .havingCause()
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.CANCELLED));
            giveBack();
            first.join().close();
        }
    }

    /** The memory missing in the first call is released behind the fence signalled by the second. */
    @Test
    void aReadyCallIsMadeBeforeACallAheadOfItsFenceWithoutMemory() {
        try (IreeRuntime runtime = open();
                Program program = load(runtime, "cpu-async/dynamic_add");
                Timeline timeline = runtime.createTimeline();
                Fence fence = timeline.at(1)) {
            ProgramFunction add = program.function("add");
            add.invoke(new float[32], new float[32]).close();
            add.invoke(FOUR, FOUR).close();
            takeAllBut(runtime.device(), 3);
            CompletableFuture<Results> first =
                    add.call(CallOptions.DEFAULTS.after(fence), new float[32], new float[32]);
            taken.forEach(each -> runtime.device().queue(0).dealloca(fence, null, each, 0));
            CompletableFuture<Results> second = add.call(CallOptions.DEFAULTS.signal(fence), FOUR, FOUR);
            second.join().close();
            first.join().close();
            giveBack();
        }
    }

    @Test
    void theFailureOfItsFenceEndsACallWithoutMemoryAheadOfTheFence() {
        try (IreeRuntime runtime = open();
                Program program = load(runtime, "cpu-async/add");
                Timeline timeline = runtime.createTimeline();
                Fence fence = timeline.at(1)) {
            ProgramFunction add = program.function("add");
            add.invoke(FOUR, FOUR).close();
            takeAllBut(runtime.device(), 0);
            CompletableFuture<Results> call = add.call(CallOptions.DEFAULTS.after(fence), FOUR, FOUR);
            timeline.semaphore().fail(IreeException.of(StatusCode.ABORTED, "as intended"));
            assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(call::join)
                    .withMessageContaining("as intended");
            await(
                    "the end of the call",
                    () -> program.monitor().activeCalls() == 0 && committed(runtime.device()) == 0);
            giveBack();
        }
    }

    /** A program with a function for {@link #code}. */
    private Program around(IreeRuntime runtime) {
        return runtime.load(ProgramOptions.builder()
                .module(JavaModule.of(new AdmissionTest.Nested(_ -> code.getAsInt())))
                .module(Fixtures.file("3.13.0/cpu/consumer.vmfb"))
                .device("a")
                .build());
    }

    private static float first(Results results) {
        try (results) {
            return results.tensor(0).toFloatArray()[0];
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void nestedCallsOfAProgramWithStateAreMadeInTheOrderOfSubmission(boolean blocks) {
        try (IreeRuntime runtime = open();
                Program state = load(runtime, "cpu/state_tensor");
                Program outer = around(runtime)) {
            ProgramFunction add = state.function("add");
            ProgramFunction get = state.function("get");
            add.invoke((Object) FOUR).close();
            float before = first(get.invoke());
            outer.function("main").invoke(1, FOUR).close();
            List<Float> got = new ArrayList<>();
            code = () -> {
                blocking(() -> {
                            takeAllBut(runtime.device(), 0);
                            return 0;
                        })
                        .join();
                CompletableFuture<Results> added = add.invokeAsync((Object) FOUR);
                awaitInput(runtime.device());
                CompletableFuture<Results> later = blocks ? null : get.invokeAsync();
                CompletableFuture<Void> given = CompletableFuture.runAsync(
                        () -> {
                            await(
                                    "both calls",
                                    () -> state.monitor().pendingCalls(3).size() == 2);
                            giveBack();
                        },
                        Thread::startVirtualThread);
                got.add(first(later == null ? get.invoke() : later.join()));
                given.join();
                added.join().close();
                return 1;
            };
            outer.function("main").invoke(1, FOUR).close();
            assertThat(got).containsExactly(before + 1);
        }
    }

    /**
     * A call of the other program, made by nobody, waits for memory of the outer call, and the outer call waits for the
     * nested call.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aNestedCallElsewhereIsNotMadeBehindACallInNeedOfMemoryOfTheOuterCall(boolean blocks) {
        try (IreeRuntime runtime = open();
                Program inner = runtime.load(ProgramOptions.builder()
                        .module(Fixtures.file("3.13.0/cpu/add.vmfb"))
                        .device("b")
                        .build());
                Program outer = around(runtime)) {
            ProgramFunction add = inner.function("add");
            add.invoke(FOUR, FOUR).close();
            outer.function("main").invoke(1, FOUR).close();
            List<CompletableFuture<Results>> strangers = new ArrayList<>();
            code = () -> {
                takeAllBut(runtime.device("b"), 1); // the outer call's
                strangers.add(blocking(() -> add.invokeAsync(FOUR, FOUR)).join());
                awaitInput(runtime.device("b"));
                try {
                    (blocks
                                    ? add.invoke(FOUR, FOUR)
                                    : add.invokeAsync(FOUR, FOUR).join())
                            .close();
                } catch (IreeException | CompletionException e) {
                    assertThat(e).hasMessageContaining("hold what it lacks");
                }
                giveBack();
                return 1;
            };
            outer.function("main").invoke(1, FOUR).close();
            strangers.forEach(each -> each.handle((results, _) -> {
                        if (results != null) {
                            results.close();
                        }
                        return 0;
                    })
                    .join());
        }
    }

    /** The outer call waits for the second, made behind the first, which lacks memory of the outer call. */
    @Test
    void aNestedCallBehindACallInNeedOfMemoryOfTheOuterCallIsMadeSoon() {
        try (IreeRuntime runtime = open(Duration.ofMillis(50)); // the program might give up its state
                Program state = load(runtime, "cpu/state_tensor");
                Program outer = around(runtime)) {
            state.function("add").invoke((Object) FOUR).close();
            outer.function("main").invoke(1, FOUR).close();
            code = () -> {
                takeAllBut(runtime.device(), 0); // the outer call's
                CompletableFuture<Results> first = state.function("add").invokeAsync((Object) FOUR);
                awaitInput(runtime.device());
                CompletableFuture<Results> second = state.function("add").invokeAsync((Object) FOUR);
                for (CompletableFuture<Results> each : List.of(second, first)) {
                    assertThatExceptionOfType(CompletionException.class)
                            .isThrownBy(each::join)
                            .withMessageContaining("waited for memory that no running work will free");
                }
                giveBack();
                return 1;
            };
            outer.function("main").invoke(1, FOUR).close();
        }
    }

    /** At random moments a call is being admitted, has no memory, or waits for a fence. */
    @Test
    @Tag("long")
    void aLateCallAheadOfItsFenceWithoutMemoryEndsOnce() {
        try (IreeRuntime runtime = open();
                Program program = load(runtime, "cpu-async/add");
                Timeline timeline = runtime.createTimeline();
                Fence fence = timeline.at(1)) {
            ProgramFunction add = program.function("add");
            add.invoke(FOUR, FOUR).close();
            takeAllBut(runtime.device(), 0);
            CompletableFuture<Results> first = add.call(CallOptions.DEFAULTS.after(fence), FOUR, FOUR);
            for (int i = 0; i < Effort.rounds(400, 10_000); i++) {
                Duration timeout = Duration.ofNanos(i % 200 * 1000L);
                CompletableFuture<Results> late =
                        add.call(CallOptions.DEFAULTS.after(fence).timeout(timeout), FOUR, FOUR);
                await(
                        "the end of the late call",
                        () -> late.isDone() && program.monitor().activeCalls() == 1);
            }
            giveBack();
            timeline.semaphore().signal(1);
            first.join().close();
            await("the end of the first call", () -> program.monitor().activeCalls() == 0);
            add.invoke(FOUR, FOUR).close();
        }
    }

    @Test
    void aBlockingCallInACallbackMakesTheEarlierCallsDueOnItsThread() {
        try (IreeRuntime runtime = open();
                Program program = load(runtime, "cpu/state_tensor");
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence fence = Fence.at(timeline, 1)) {
            program.function("add").invoke((Object) FOUR).close();
            float before = first(program.function("get").invoke());
            takeAllBut(runtime.device(), 0);
            List<Float> got = new ArrayList<>();
            CompletableFuture<Void> called = fence.toCompletableFuture().thenRun(() -> {
                CompletableFuture<Results> added = program.function("add").invokeAsync((Object) FOUR);
                giveBack();
                got.add(first(program.function("get").invoke()));
                added.join().close();
            });
            CompletableFuture.runAsync(() -> timeline.signal(1), Thread::startVirtualThread);
            called.join();
            assertThat(got).containsExactly(before + 1);
        }
    }

    @Test
    void aCallWaitingForItsQuotaKeepsNoInputsOfOthersFromTheDevice() {
        try (IreeRuntime runtime = open(Duration.ofMinutes(5), 4 * UNIT);
                Program limited = runtime.load(ProgramOptions.builder()
                        .module(Fixtures.file("3.13.0/cpu/add.vmfb"))
                        .name("limited")
                        .build());
                Program other = load(runtime, "cpu/add")) {
            limited.function("add").invoke(FOUR, FOUR).close();
            other.function("add").invoke(FOUR, FOUR).close();
            BufferParams params = BufferParams.DEFAULT.withConsumer("limited");
            Buffer quota = InputsInLineTest.take(runtime.device().queue(0), params, 4 * UNIT);
            CompletableFuture<Results> first = limited.function("add").invokeAsync(FOUR, FOUR);
            awaitInput(runtime.device());
            takeAllBut(runtime.device(), 0);
            CompletableFuture<Results> second = other.function("add").invokeAsync(FOUR, FOUR);
            giveBack();
            second.join().close();
            assertThat(first).isNotDone();
            quota.close();
            first.join().close();
        }
    }
}
