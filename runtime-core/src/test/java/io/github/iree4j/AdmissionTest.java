package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls that wait for memory: they get it, or fail because it cannot come, and leave nothing behind. An input or result takes 64 bytes. */
@Timeout(60)
class AdmissionTest {
    private static final float[] FOUR = {1, 2, 3, 4};

    private static Program add(IreeRuntime runtime) {
        return runtime.load(ProgramOptions.builder()
                .module(Path.of(System.getProperty("iree4j.shared"), "vmfb", "add.vmfb"))
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
    void aCallWhoseInputsFitAndWhoseResultDoesNotFailsWithWhoHoldsWhat() {
        try (IreeRuntime runtime = IreeRuntime.builder().memoryLimit(160).build();
                Program program = add(runtime)) {
            for (int i = 0; i < 3; i++) {
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> program.function("add").invoke(FOUR, FOUR))
                        .withMessageContaining("allocation of 16 bytes")
                        .withMessageContaining("call of 'module.add' holds 128 bytes and waits for memory")
                        .withMessageContaining("128 of 160 bytes in use")
                        .withMessageContaining("raise the limit")
                        .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
                assertThat(live(runtime)).isZero();
                assertThat(pending(runtime)).isZero();
            }
        }
    }

    @Test
    void ofAsynchronousCallsThatTogetherExceedAQuotaSomeAreAnsweredAndOthersFailAndNoneHangs() throws Exception {
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
    void aCallPastItsDeadlineLeavesNothingInLineAndNoBytes() {
        try (IreeRuntime runtime = IreeRuntime.builder().memoryLimit(4 * 64).build();
                Tensor kept = runtime.upload(Tensor.of(new float[32], 32));
                Program program = add(runtime)) {
            for (int i = 0; i < 20; i++) {
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> program.function("add").invokeWithin(Duration.ofMillis(20), FOUR, FOUR))
                        .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED));
                while (program.activeCalls() > 0) {
                    Thread.onSpinWait(); // the caller hears of the deadline before the call has been given up
                }
                assertThat(live(runtime)).isEqualTo(kept.byteSize());
            }
            assertThat(live(runtime)).isEqualTo(kept.byteSize());
            assertThat(pending(runtime)).isZero();
        }
    }

    @Test
    void whatTheHostKeepsIsWaitedForOnlyForAWhile() {
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
                    .withMessageContaining("the host keeps 128 bytes")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
            assertThat(live(runtime)).isEqualTo(kept.byteSize());
        }
    }

    @Test
    void aCallWaitsForResultsThatAreAboutToBeClosed() throws Exception {
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

    @Test
    void sixClientsThatTogetherExceedTheLimitAreAllAnswered() throws Exception {
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

    @Test
    void inputsAreOnTheAccountOfTheProgram() {
        try (IreeRuntime runtime = IreeRuntime.builder().memoryQuota("add", 64).build();
                Program program = add(runtime)) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> program.function("add").invoke(FOUR, FOUR))
                    .withMessageContaining("the quota of 'add' is 64 bytes; 'add' has 0 bytes transient, 64 persistent")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
            assertThat(live(runtime)).isZero();
        }
    }
}
