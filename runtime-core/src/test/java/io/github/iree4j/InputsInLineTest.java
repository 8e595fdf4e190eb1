package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.module.JavaModule;
import io.github.iree4j.monitor.PendingCall;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Inputs of an admitted call wait in line where the memory has gone to work unforeseen by the gate. An input or result
 * takes 64 bytes; a queue operation without a call takes the rest, unknown to the gate.
 */
@Timeout(60)
class InputsInLineTest {
    private static final long UNIT = 64;
    private static final long LIMIT = 4 * UNIT;
    private static final Duration MINUTES = Duration.ofMinutes(5);
    private static final float[] FOUR = {1, 2, 3, 4};

    private IreeRuntime runtime;
    private Program program;
    private Buffer unforeseen;

    /** The manner of the call. */
    enum Way {
        BLOCKING("cpu"),
        FUTURE("cpu"),
        /** The function takes fences. */
        FUTURE_OF_DEVICE_WORK("cpu-async"),
        /** The fence is reached meanwhile. */
        BEHIND_A_FENCE("cpu"),
        /** The function takes fences, and the call is made before the fence is reached. */
        AHEAD_OF_A_FENCE("cpu-async"),
        WITHIN_A_LIMIT("cpu");

        private final String form;

        Way(String form) {
            this.form = form;
        }
    }

    @BeforeEach
    void open() {
        runtime = open(options(LIMIT).build());
    }

    private static DeviceOptions.Builder options(long limit) {
        return DeviceOptions.builder().memoryLimit(limit).memoryWait(MINUTES).memoryHostWait(MINUTES);
    }

    private static IreeRuntime open(DeviceOptions options) {
        return IreeRuntime.builder().device("local", "local://", options).build();
    }

    /** Loads the program, makes a call to learn the need, and takes the rest. */
    private void load(String form, boolean overlaps) {
        program = runtime.load(ProgramOptions.builder()
                .module(Fixtures.file("3.13.0/" + form + "/add.vmfb"))
                .overlappingCalls(overlaps)
                .build());
        check(program.function("add").invoke(FOUR, FOUR));
        unforeseen = take(device().queue(0), BufferParams.DEFAULT, LIMIT - UNIT);
        awaitNoInput(); // the fence of memory is reached before the request has left the line
    }

    private void awaitNoInput() {
        await(
                "the end of all requests in line",
                () -> device().allocator().poolStatistics().waiting() == 0);
    }

    /** Takes memory in queue order; outside of a call, unknown to the gate. */
    static Buffer take(DeviceQueue queue, BufferParams params, long bytes) {
        try (TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence taken = Fence.at(timeline, 1)) {
            Buffer buffer = queue.alloca(null, taken, params, bytes, 0);
            taken.await();
            return buffer;
        }
    }

    @AfterEach
    void nothingIsLeft() {
        program.close();
        unforeseen.close();
        // The caller learns of the end of a call before the call's last operation has released its buffers, and the
        // call's right to hold memory ends after that.
        await(
                "the release of all memory",
                () -> device().allocator().statistics().bytesLive() == 0);
        await(
                "the end of all rights to hold memory",
                () -> Objects.requireNonNull(device().allocator().gate()).committed() == 0);
        awaitNoInput();
        runtime.close();
    }

    private Device device() {
        return runtime.device();
    }

    private static void check(Results results) {
        try (results) {
            assertThat(results.tensor(0).toFloatArray()).containsExactly(2, 4, 6, 8);
        }
    }

    /** Waits for a condition, within a limit: JUnit's limit does not end a loop. */
    static void await(String what, BooleanSupplier condition) {
        long begun = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - begun).as(what).isLessThan(30_000_000_000L);
            Thread.onSpinWait();
        }
    }

    static void awaitInput(Device device) {
        await("an input in line", () -> device.allocator().poolStatistics().waiting() > 0);
    }

    private static boolean after(Way way) {
        return way == Way.BEHIND_A_FENCE || way == Way.AHEAD_OF_A_FENCE;
    }

    private CompletableFuture<Results> call(Way way, Fence after, float[] left, float[] right) {
        ProgramFunction add = program.function("add");
        return switch (way) {
            case BLOCKING -> blocking(() -> add.invoke(left, right));
            case WITHIN_A_LIMIT ->
                blocking(() -> add.call(CallOptions.DEFAULTS.timeout(MINUTES), left, right)
                        .await());
            case FUTURE, FUTURE_OF_DEVICE_WORK -> add.invokeAsync(left, right);
            case BEHIND_A_FENCE, AHEAD_OF_A_FENCE -> add.call(CallOptions.DEFAULTS.after(after), left, right);
        };
    }

    static <T> CompletableFuture<T> blocking(Supplier<T> call) {
        return CompletableFuture.supplyAsync(call, Thread::startVirtualThread);
    }

    @ParameterizedTest
    @EnumSource
    void anInputWaitsUntilUnforeseenWorkHasReleasedTheMemory(Way way) {
        load(way.form, way.ordinal() % 2 == 0);
        try (Timeline timeline = runtime.createTimeline();
                Fence after = timeline.at(1)) {
            float[] left = FOUR.clone();
            float[] right = FOUR.clone();
            CompletableFuture<Results> call = call(way, after, left, right);
            if (after(way)) { // ahead of the fence the call is in no line with others behind
                assertThat(device().allocator().poolStatistics().waiting()).isZero();
                timeline.semaphore().signal(1);
            }
            awaitInput(device());
            if (way != Way.BLOCKING && way != Way.WITHIN_A_LIMIT) { // the caller has the arrays back
                Arrays.fill(left, -1);
                Arrays.fill(right, -1);
            }
            assertThat(call).isNotDone();
            assertThat(program.monitor().activeCalls()).isEqualTo(1);
            unforeseen.close();
            check(call.join());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCallWithoutMemoryForItsInputsIsReportedAsWaitingForMemory(boolean overlaps) {
        load("cpu", overlaps);
        CompletableFuture<Results> call = program.function("add").invokeAsync(FOUR, FOUR);
        awaitInput(device());
        await(
                "a wait for memory",
                () -> program.monitor().pendingCalls(1).getFirst().state() == PendingCall.State.FOR_MEMORY);
        assertThat(program.monitor().pendingCalls(1).getFirst().bytes()).isPositive();
        unforeseen.close();
        check(call.join());
    }

    @Test
    void aBlockingCallWithoutMemoryForItsInputsIsReportedAsWaitingForMemory() {
        load("cpu", false);
        CompletableFuture<Results> call = blocking(() -> program.function("add").invoke(FOUR, FOUR));
        awaitInput(device());
        await(
                "a wait for memory",
                () -> program.monitor().pendingCalls(1).getFirst().state() == PendingCall.State.FOR_MEMORY);
        unforeseen.close();
        check(call.join());
    }

    @Test
    void aTransferredInputWaitsAndIsTheCalls() {
        load("cpu", false);
        Tensor given = Tensor.of(FOUR.clone(), 4);
        CompletableFuture<Results> call = program.function("add").invokeAsync(given.transfer(), FOUR.clone());
        awaitInput(device());
        assertThatExceptionOfType(IreeException.class).isThrownBy(given::toFloatArray);
        unforeseen.close();
        check(call.join());
    }

    /** How the wait ends before there is memory. */
    enum End {
        INTERRUPT(StatusCode.CANCELLED),
        CANCEL(StatusCode.CANCELLED),
        TIMEOUT(StatusCode.DEADLINE_EXCEEDED),
        BY_NUMBER(StatusCode.CANCELLED),
        FUTURE_BY_NUMBER(StatusCode.CANCELLED);

        private final StatusCode code;

        End(StatusCode code) {
            this.code = code;
        }
    }

    @ParameterizedTest
    @EnumSource
    void anEndedWaitLeavesNothing(End end) {
        load("cpu", false);
        Buffer rest = take(device().queue(0), BufferParams.DEFAULT, UNIT);
        ProgramFunction add = program.function("add");
        Thread[] caller = new Thread[1];
        CompletableFuture<Results> call = switch (end) {
            case INTERRUPT, BY_NUMBER ->
                blocking(() -> {
                    caller[0] = Thread.currentThread();
                    return add.invoke(FOUR, FOUR);
                });
            case CANCEL, FUTURE_BY_NUMBER -> add.invokeAsync(FOUR, FOUR);
            case TIMEOUT ->
                blocking(() -> add.call(CallOptions.DEFAULTS.timeout(Duration.ofMillis(50)), FOUR, FOUR)
                        .await());
        };
        awaitInput(device());
        switch (end) {
            case INTERRUPT -> caller[0].interrupt();
            case CANCEL -> call.cancel(false);
            case TIMEOUT -> {}
            case BY_NUMBER, FUTURE_BY_NUMBER ->
                assertThat(program.monitor()
                                .cancelCall(program.monitor()
                                        .pendingCalls(1)
                                        .getFirst()
                                        .id()))
                        .isTrue();
        }
        if (end == End.CANCEL) {
            assertThat(call).isCancelled();
        } else {
            assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(call::join)
                    .havingCause()
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(end.code));
        }
        await("the end of the call", () -> program.monitor().activeCalls() == 0); // the caller learns of the end first
        assertThat(device().allocator().poolStatistics().waiting()).isZero();
        assertThat(device().allocator().statistics().bytesLive()).isEqualTo(LIMIT);
        rest.close();
        unforeseen.close();
        check(add.invoke(FOUR, FOUR));
    }

    @ParameterizedTest
    @EnumSource(names = {"BLOCKING", "FUTURE", "FUTURE_OF_DEVICE_WORK", "WITHIN_A_LIMIT"})
    void closingTheProgramEndsTheWait(Way way) {
        load(way.form, false);
        try (Timeline timeline = runtime.createTimeline();
                Fence unused = timeline.at(1)) {
            CompletableFuture<Results> call = call(way, unused, FOUR, FOUR);
            awaitInput(device());
            program.close();
            assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(call::join)
                    .havingCause()
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.CANCELLED));
        }
    }

    /**
     * A program with calls that hold some unforeseen units of memory.
     *
     * @param hidden whether the memory is not even known as the call's, so nothing is learnt
     */
    private static Program unforeseen(IreeRuntime runtime, boolean hidden, Runnable meanwhile) {
        DeviceQueue queue = runtime.device().queue(0);
        AdmissionTest.Nested module = new AdmissionTest.Nested(units -> {
            Supplier<Buffer> taking = () -> take(queue, BufferParams.DEFAULT, units * UNIT);
            try (Buffer more = hidden ? blocking(taking).join() : taking.get()) {
                meanwhile.run();
                return (int) (more.length() / UNIT);
            }
        });
        return runtime.load(ProgramOptions.builder()
                .module(JavaModule.of(module))
                .module(Fixtures.file("3.13.0/cpu/consumer.vmfb"))
                .build());
    }

    /**
     * The inner call lacks memory held by the outer call, and the outer call waits for the inner call: nobody else can
     * release any.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 2}) // with 1 there is room for the first input of the inner call
    void anInputOfACallAwaitedByTheHolderOfTheMemoryFailsSoon(int units) {
        load("cpu", false);
        unforeseen.close();
        List<Results> wrong = new ArrayList<>();
        Runnable meanwhile = () -> {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> wrong.add(program.function("add").invoke(FOUR, FOUR)))
                    .withMessageContaining("calls that wait for this one hold what it lacks")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
            assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(() -> wrong.add(
                            program.function("add").invokeAsync(FOUR, FOUR).join()))
                    .withMessageContaining("calls that wait for this one hold what it lacks");
        };
        try (Program outer = unforeseen(runtime, false, meanwhile)) {
            try (Results results = outer.function("main").invoke(units, FOUR)) {
                assertThat(results.intValue(0)).isEqualTo(units);
            }
        }
        assertThat(wrong).isEmpty();
    }

    /**
     * Calls use up to four times as much as anybody knows. The limit has room for all inputs beside the largest request, so no call has to
     * fail.
     */
    @Test
    @Tag("long")
    void everyCallIsAnsweredBesideCallsHoldingMoreThanForeseen() throws Exception {
        program = runtime.load(Fixtures.file("3.13.0/cpu/nothing.vmfb"));
        unforeseen = take(device().queue(0), BufferParams.DEFAULT, UNIT);
        long seed = Effort.seed(InputsInLineTest.class, "needs", 1);
        int callers = 6;
        int most = 4;
        Queue<Throwable> wrong = new ConcurrentLinkedQueue<>();
        try (IreeRuntime tight = open(options((callers + most) * UNIT).build())) {
            List<Program> programs = new ArrayList<>();
            CyclicBarrier start = new CyclicBarrier(callers);
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < callers; i++) {
                Program own = unforeseen(tight, true, () -> {});
                programs.add(own);
                ProgramFunction main = own.function("main");
                main.invoke(1, FOUR).close();
                Random random = new Random(seed + i);
                threads.add(Thread.ofPlatform().start(() -> {
                    try {
                        start.await();
                        for (int call = 0; call < Effort.rounds(200, 3_000) && wrong.isEmpty(); call++) {
                            int units = 1 + random.nextInt(most);
                            try (Results results = random.nextBoolean()
                                    ? main.invoke(units, FOUR)
                                    : main.invokeAsync(units, FOUR).join()) {
                                assertThat(results.intValue(0)).isEqualTo(units);
                            }
                        }
                    } catch (Throwable e) {
                        wrong.add(e);
                    }
                }));
            }
            for (Thread each : threads) {
                each.join();
            }
            programs.forEach(Program::close);
            assertThat(wrong).isEmpty();
            assertThat(tight.device().allocator().statistics().bytesLive()).isZero();
        }
    }
}
