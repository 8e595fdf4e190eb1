package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.module.Export;
import io.github.iree4j.module.IreeModule;
import io.github.iree4j.module.JavaModule;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.NeverFits;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Calls in a wait for memory: each gets memory, or fails because memory cannot come, and leaves nothing behind. An
 * input or result takes 64 bytes.
 */
@Timeout(300)
class AdmissionTest {
    private static final float[] FOUR = {1, 2, 3, 4};

    private static Program add(IreeRuntime runtime) {
        return runtime.load(ProgramOptions.builder()
                .module(Fixtures.file("3.11.0/cpu/add.vmfb"))
                .build());
    }

    private static long live(IreeRuntime runtime) {
        return runtime.device().allocator().statistics().bytesLive();
    }

    private static long pending(IreeRuntime runtime) {
        QueueCounters counters = runtime.device().queue(0).counters();
        return counters.pending();
    }

    @Test
    void aCallWithFittingInputsAndATooLargeResultFailsNamingTheMemoryHeld() {
        try (IreeRuntime runtime = IreeRuntime.builder().memoryLimit(160).build();
                Program program = add(runtime)) {
            for (int i = 0; i < 3; i++) {
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> program.function("add").invoke(FOUR, FOUR))
                        .withMessageContaining("allocation of 16 bytes")
                        .withMessageContaining("the limit of device 'local' is 160 bytes")
                        .withMessageContaining(
                                "it does not fit beside what its own call holds; use less in one call (smaller inputs or a smaller batch), or raise the limit")
                        .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED))
                        .satisfies(e -> assertThat(e.detail(NeverFits.class)).contains(new NeverFits(16)));
                assertThat(live(runtime)).isZero();
                assertThat(pending(runtime)).isZero();
            }
        }
    }

    @Test
    void ofAsynchronousCallsTogetherOverAQuotaSomeAreAnsweredAndOthersFailAndNoneHangs() throws Exception {
        try (IreeRuntime runtime =
                IreeRuntime.builder().memoryQuota("add", 5 * 64).build()) {
            List<Program> programs = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                programs.add(add(runtime));
            }
            int answered = 0;
            for (int round = 0; round < 20; round++) {
                List<CompletableFuture<Results>> futures = new ArrayList<>();
                for (Program program : programs) {
                    try {
                        futures.add(program.function("add").invokeAsync(FOUR, FOUR));
                    } catch (IreeException e) {
                        assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
                    }
                }
                for (CompletableFuture<Results> future : futures) {
                    try (Results results = future.get()) {
                        assertThat(results.tensor(0).toFloatArray()).containsExactly(2, 4, 6, 8);
                        answered++;
                    } catch (ExecutionException e) {
                        assertThat(e.getCause())
                                .isInstanceOfSatisfying(
                                        IreeException.class,
                                        failure -> assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
                    }
                }
            }
            assertThat(answered).isPositive();
            programs.forEach(Program::close);
            assertThat(live(runtime)).isZero();
            assertThat(pending(runtime)).isZero();
        }
    }

    @Test
    void aProgramWithATooLargeInitialiserIsRefusedAndLeavesNothing() {
        int refused = 0;
        for (int limit = 16; limit <= 128; limit += 16) {
            try (IreeRuntime runtime = IreeRuntime.builder().memoryLimit(limit).build()) {
                for (int i = 0; i < 3; i++) {
                    try (Program program = runtime.load(Fixtures.file("3.13.0/cpu/initializer.vmfb"))) {
                        assertThat(live(runtime)).as("limit %d", limit).isPositive();
                        assertThat(program.name()).isNotEmpty();
                    } catch (IreeException e) {
                        refused++;
                        assertThat(e.code()).as(e.getMessage()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
                        assertThat(limit).as(e.getMessage()).isLessThan(128);
                    }
                    assertThat(live(runtime)).as("limit %d", limit).isZero();
                    assertThat(pending(runtime)).isZero();
                }
            }
        }
        assertThat(refused).isPositive();
    }

    /**
     * A call with memory on one device and a wait on the other forms a deadlock unseen by either: the limit on waiting ends
     * it.
     */
    @Test
    void callsOnTwoDevicesEndAndLeaveNothing() throws Exception {
        DeviceOptions options = DeviceOptions.builder()
                .memoryLimit(4 * 64)
                .memoryWait(Duration.ofSeconds(1))
                .memoryHostWait(Duration.ofMillis(100))
                .build();
        try (IreeRuntime runtime = IreeRuntime.builder()
                .device("a", "local", options)
                .device("b", "local", options)
                .build()) {
            List<Program> programs = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                programs.add(runtime.load(Fixtures.file("3.13.0/cpu-two/two_devices.vmfb")));
            }
            AtomicInteger answered = new AtomicInteger();
            List<Throwable> wrong = new CopyOnWriteArrayList<>();
            List<Thread> callers = new ArrayList<>();
            for (Program program : programs) {
                callers.add(Thread.ofVirtual().start(() -> {
                    for (int round = 0; round < 10; round++) {
                        try (Results results = program.function("both").invoke((Object) FOUR)) {
                            assertThat(results.tensor(0).toFloatArray()).containsExactly(5, 18, 39, 68);
                            answered.incrementAndGet();
                        } catch (IreeException e) {
                            if (e.code() != StatusCode.RESOURCE_EXHAUSTED) {
                                wrong.add(e);
                            }
                        } catch (Throwable t) {
                            wrong.add(t);
                        }
                    }
                }));
            }
            for (Thread each : callers) {
                each.join();
            }
            programs.forEach(Program::close);
            assertThat(wrong).isEmpty();
            assertThat(answered).hasPositiveValue();
            runtime.devices().forEach(device -> {
                assertThat(device.allocator().statistics().bytesLive()).isZero();
                assertThat(device.queue(0).counters().pending()).isZero();
            });
        }
    }

    @Test
    void aCallPastItsDeadlineLeavesNothingInLineAndNoBytes() {
        // On a machine that stops for seconds, the wait for the host would end before the deadline is checked.
        DeviceOptions options = DeviceOptions.builder()
                .memoryLimit(4 * 64)
                .memoryHostWait(Duration.ofMinutes(5))
                .build();
        try (IreeRuntime runtime = IreeRuntime.builder()
                        .device("local", "local://", options)
                        .build();
                Tensor kept = runtime.upload(Tensor.of(new float[32], 32));
                Program program = add(runtime)) {
            for (int i = 0; i < 20; i++) {
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> program.function("add")
                                .call(CallOptions.DEFAULTS.timeout(Duration.ofMillis(20)), FOUR, FOUR)
                                .await())
                        .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED));
                while (program.monitor().activeCalls() > 0) {
                    Thread.onSpinWait(); // the caller sees the deadline before the call is abandoned
                }
                assertThat(live(runtime)).isEqualTo(kept.byteSize());
            }
            assertThat(live(runtime)).isEqualTo(kept.byteSize());
            assertThat(pending(runtime)).isZero();
        }
    }

    @Test
    void memoryKeptByTheHostIsWaitedForOnlyForAWhile() {
        DeviceOptions options = DeviceOptions.builder()
                .memoryLimit(4 * 64)
                .memoryHostWait(Duration.ofMillis(50))
                .build();
        try (IreeRuntime runtime = IreeRuntime.builder()
                        .device("local", "local://", options)
                        .build();
                Tensor kept = runtime.upload(Tensor.of(new float[32], 32));
                Program program = add(runtime)) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("add").invoke(FOUR, FOUR))
                    .withMessageContaining("it fits once results or tensors are closed; close them, or raise the limit")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
            assertThat(live(runtime)).isEqualTo(kept.byteSize());
        }
    }

    @Test
    void aCallWaitsForResultsAboutToBeClosed() throws Exception {
        try (IreeRuntime runtime = IreeRuntime.builder().memoryLimit(3 * 64).build();
                Program program = add(runtime);
                Program other = add(runtime)) {
            Results first = program.function("add").invoke(FOUR, FOUR);
            CompletableFuture<Results> second = other.function("add").invokeAsync(FOUR, FOUR);
            while (pending(runtime) == 0 && !second.isDone()) {
                Thread.onSpinWait();
            }
            assertThat(second).isNotDone();
            first.close();
            try (Results results = second.get()) {
                assertThat(results.tensor(0).toFloatArray()).containsExactly(2, 4, 6, 8);
            }
        }
    }

    /** A module with a function that calls another program, while the enclosing call holds its input. */
    @IreeModule("custom")
    static final class Nested {
        private final IntUnaryOperator twice;

        Nested(IntUnaryOperator twice) {
            this.twice = twice;
        }

        @Export("twice")
        int twice(int value) {
            return twice.applyAsInt(value);
        }

        @Export("double")
        Tensor same(Tensor value) {
            return value;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"invoke", "join", "within"})
    void aNestedCallFailsAtOnceWhenTheOuterCallHoldsTheMissingMemory(String how) {
        try (IreeRuntime runtime = IreeRuntime.builder().memoryLimit(3 * 64).build();
                Program inner = add(runtime)) {
            ProgramFunction add = inner.function("add");
            AtomicBoolean nested = new AtomicBoolean(true);
            Nested module = new Nested(value -> {
                if (!nested.get()) {
                    return 2 * value;
                }
                try (Results results = switch (how) {
                    case "invoke" -> add.invoke(FOUR, FOUR);
                    case "join" -> add.invokeAsync(FOUR, FOUR).join();
                    default ->
                        add.call(CallOptions.DEFAULTS.timeout(Duration.ofMinutes(2)), FOUR, FOUR)
                                .await();
                }) {
                    return results.size();
                }
            });
            try (Program outer = runtime.load(ProgramOptions.builder()
                    .module(JavaModule.of(module))
                    .module(Fixtures.file("3.13.0/cpu/consumer.vmfb"))
                    .build())) {
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> outer.function("main").invoke(4, FOUR))
                        .withMessageContaining("waited for memory that no running work will free")
                        .withMessageContaining("calls that wait for this one hold what it lacks")
                        .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED))
                        .satisfies(e -> assertThat(e.detail(NeverFits.class)).isEmpty());
                assertThat(live(runtime)).isZero();
                nested.set(false);
                try (Results results = outer.function("main").invoke(4, FOUR)) {
                    assertThat(results.intValue(0)).isEqualTo(8);
                }
            }
            assertThat(live(runtime)).isZero();
        }
    }

    @Test
    void sixClientsTogetherOverTheLimitAreAllAnswered() throws Exception {
        try (IreeRuntime runtime = IreeRuntime.builder().memoryLimit(5 * 64).build()) {
            List<Program> programs = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                programs.add(add(runtime));
            }
            List<Throwable> failures = new CopyOnWriteArrayList<>();
            AtomicInteger answered = new AtomicInteger();
            CyclicBarrier start = new CyclicBarrier(programs.size());
            List<Thread> clients = new ArrayList<>();
            for (Program program : programs) {
                clients.add(Thread.ofPlatform().start(() -> {
                    try {
                        start.await();
                        for (int i = 0; i < 200; i++) {
                            try (Results results = program.function("add").invoke(FOUR, FOUR)) {
                                assertThat(results.tensor(0).toFloatArray()).containsExactly(2, 4, 6, 8);
                                answered.incrementAndGet();
                            }
                        }
                    } catch (Throwable e) {
                        failures.add(e);
                    }
                }));
            }
            for (Thread client : clients) {
                client.join();
            }
            assertThat(failures).isEmpty();
            assertThat(answered).hasValue(6 * 200);
            programs.forEach(Program::close);
            assertThat(live(runtime)).isZero();
        }
    }

    /**
     * Of quotas for one and for two buffers, the first has no room for the second input, and the second no room for the
     * result.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aCallOverItsQuotaByItselfIsJudgedBesideABusyProgram(int buffers) {
        DeviceOptions options = DeviceOptions.builder()
                .memoryQuota("add", buffers * 64)
                .memoryHostWait(Duration.ofMillis(50))
                .memoryWait(Duration.ofSeconds(20))
                .build();
        CompletableFuture<Void> over = new CompletableFuture<>();
        try (IreeRuntime runtime = IreeRuntime.builder()
                        .device("local", "local://", options)
                        .build();
                Program program = add(runtime);
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                Fence done = Fence.at(timeline, 1)) {
            runtime.device().queue(0).hostCall(null, done, over::join, 0);
            try {
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> program.function("add").invoke(FOUR, FOUR))
                        .withMessageContaining("waited for memory that no running work will free")
                        .withMessageContaining("it does not fit beside what its own call holds")
                        .satisfies(e -> assertThat(e.detail(NeverFits.class)).contains(new NeverFits(16)));
                assertThat(done.isReached()).isFalse();
                assertThat(live(runtime)).isZero();
            } finally {
                over.complete(null);
                done.await();
            }
        }
    }

    @Test
    void inputsAreOnTheAccountOfTheProgram() {
        try (IreeRuntime runtime = IreeRuntime.builder().memoryQuota("add", 64).build();
                Program program = add(runtime)) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("add").invoke(FOUR, FOUR))
                    .withMessageContaining("the quota of device 'local' is 64 bytes; it does not fit beside")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
            assertThat(live(runtime)).isZero();
        }
    }
}
