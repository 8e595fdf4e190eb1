package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random budgets, contexts and clients with calls, cancellations, deadlines, kept results and closes: every call ends,
 * and no byte stays.
 */
@Tag("long")
@Timeout(1200)
class AdmissionModelTest {
    private static final float[] FOUR = {1, 2, 3, 4};
    private static final Set<StatusCode> ALLOWED = EnumSet.of(
            StatusCode.RESOURCE_EXHAUSTED,
            StatusCode.DEADLINE_EXCEEDED,
            StatusCode.CANCELLED,
            StatusCode.FAILED_PRECONDITION); // closed concurrently

    private static final Duration HOST_WAIT = Duration.ofMillis(10);
    private static final Duration WAIT = Duration.ofSeconds(20);

    @Test
    void everyCallEndsAndNoByteStays() throws Exception {
        int rounds = Effort.rounds(20, 60);
        long first = Effort.seed(AdmissionModelTest.class, rounds + " rounds", 1);
        for (int i = 0; i < rounds; i++) {
            round(first + i);
        }
    }

    private static void round(long seed) throws Exception {
        Random random = new Random(seed);
        DeviceOptions.Builder options = DeviceOptions.builder()
                .queueCount(1 + random.nextInt(2))
                .memoryLimit(64L * (2 + random.nextInt(12)))
                .memoryHostWait(HOST_WAIT)
                .memoryWait(WAIT);
        if (random.nextBoolean()) {
            options.memoryQuota("add", 64L * (2 + random.nextInt(8)));
        }
        Queue<Throwable> wrong = new ConcurrentLinkedQueue<>();
        try (IreeRuntime runtime =
                IreeRuntime.builder().device("local", "local", options.build()).build()) {
            List<Program> programs = new ArrayList<>();
            int contexts = 1 + random.nextInt(6);
            for (int i = 0; i < contexts; i++) {
                programs.add(runtime.load(ProgramOptions.builder()
                        .module(Fixtures.file("3.11.0/cpu/add.vmfb"))
                        .build()));
            }
            List<Thread> clients = new ArrayList<>();
            int count = 1 + random.nextInt(6);
            for (int i = 0; i < count; i++) {
                long own = random.nextLong();
                clients.add(Thread.ofPlatform().start(() -> {
                    try {
                        client(new Random(own), programs);
                    } catch (Throwable e) {
                        wrong.add(e);
                    }
                }));
            }
            for (Thread client : clients) {
                client.join();
            }
            programs.forEach(Program::close);
            for (Program program : programs) {
                while (program.monitor().activeCalls() > 0) {
                    Thread.onSpinWait(); // a caller sees its deadline before the call is abandoned
                }
            }
            assertThat(wrong).as("seed %d", seed).isEmpty();
            assertThat(runtime.device().allocator().statistics().bytesLive())
                    .as("bytes live, seed %d", seed)
                    .isZero();
            for (int i = 0; i < runtime.device().queueCount(); i++) {
                assertThat(runtime.device().queue(i).counters().pending())
                        .as("operations pending, seed %d", seed)
                        .isZero();
            }
        }
    }

    private static void client(Random random, List<Program> programs) throws Exception {
        List<Results> kept = new ArrayList<>();
        try {
            for (int i = 0; i < 30; i++) {
                Program program = programs.get(random.nextInt(programs.size()));
                long start = System.nanoTime();
                try {
                    one(random, program, kept);
                } catch (IreeException e) {
                    assertThat(ALLOWED).as(e.getMessage()).contains(e.code());
                }
                assertThat(System.nanoTime() - start).as("nanoseconds").isLessThan(3 * WAIT.toNanos());
                if (kept.size() > random.nextInt(3)) {
                    kept.removeFirst().close();
                }
            }
            if (random.nextInt(4) == 0) {
                programs.get(random.nextInt(programs.size())).close();
            }
        } finally {
            kept.forEach(Results::close);
        }
    }

    private static void one(Random random, Program program, List<Results> kept) throws Exception {
        ProgramFunction add = program.function("add");
        switch (random.nextInt(4)) {
            case 0 -> kept.add(checked(add.invoke(FOUR, FOUR)));
            case 1 ->
                kept.add(checked(
                        add.call(CallOptions.DEFAULTS.timeout(Duration.ofNanos(random.nextInt(20_000_000))), FOUR, FOUR)
                                .await()));
            case 2 -> {
                CompletableFuture<Results> future = add.invokeAsync(FOUR, FOUR);
                if (!future.cancel(true)) {
                    end(future);
                }
            }
            default -> {
                List<CompletableFuture<Results>> several = new ArrayList<>();
                try {
                    for (int i = 0; i < 3; i++) {
                        several.add(add.invokeAsync(FOUR, FOUR));
                    }
                } finally {
                    for (CompletableFuture<Results> each : several) {
                        end(each);
                    }
                }
            }
        }
    }

    private static void end(CompletableFuture<Results> future) throws InterruptedException {
        try {
            checked(future.get()).close();
        } catch (ExecutionException e) {
            assertThat(e.getCause())
                    .isInstanceOfSatisfying(
                            IreeException.class,
                            failure ->
                                    assertThat(ALLOWED).as(failure.getMessage()).contains(failure.code()));
        }
    }

    private static Results checked(Results results) {
        assertThat(results.tensor(0).toFloatArray()).containsExactly(2, 4, 6, 8);
        return results;
    }
}
