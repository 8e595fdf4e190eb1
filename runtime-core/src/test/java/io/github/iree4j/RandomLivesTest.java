package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.hal.pool.AdmissionGate;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.monitor.PendingCall;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.VmModule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Calls of all kinds on little memory, ended in any state by anybody: by their callers, by each other's callbacks, by
 * operators, interrupts, deadlines, failed fences, and reloads of their programs. Each call ends, each fence to be
 * signalled ends, and nothing stays: no byte, no operation, no place in line, no commitment.
 */
@Timeout(600)
class RandomLivesTest {
    private static final Tensor FOUR = Tensor.of(new float[] {1, 2, 3, 4}, 4);
    private static final int THREADS = 3;
    private static final int STEPS = 25;

    /** The programs of a round, loaded again from time to time, and their calls. */
    private static final class Round {
        private final IreeRuntime runtime;
        private final boolean overlaps;
        private final AtomicReference<Program> plain = new AtomicReference<>();
        private final AtomicReference<Program> fenced = new AtomicReference<>();
        private final AtomicReference<Program> outer = new AtomicReference<>();
        private final Queue<CompletableFuture<Results>> calls = new ConcurrentLinkedQueue<>();
        private final Queue<CompletableFuture<Boolean>> ends = new ConcurrentLinkedQueue<>();
        private final Queue<Fence> signals = new ConcurrentLinkedQueue<>();
        private final Queue<Program> closed = new ConcurrentLinkedQueue<>();

        Round(Random random) {
            runtime = IreeRuntime.builder()
                    .device(
                            "local",
                            "local",
                            DeviceOptions.builder()
                                    .memoryLimit(64L * (3 + random.nextInt(12)))
                                    .memoryHostWait(Duration.ofMillis(10))
                                    .memoryWait(Duration.ofSeconds(2))
                                    .build())
                    .taskWorkers(2)
                    .build();
            overlaps = random.nextBoolean();
            load(plain);
            load(fenced);
            load(outer);
        }

        void load(AtomicReference<Program> which) {
            ProgramOptions.Builder options = ProgramOptions.builder().overlappingCalls(overlaps);
            if (which == outer) {
                options.module(module());
            } else {
                options.module(Fixtures.file("3.13.0/" + (which == plain ? "cpu" : "cpu-async") + "/add.vmfb"));
            }
            Program before = which.getAndSet(runtime.load(options.build()));
            if (before != null) {
                before.close();
                closed.add(before);
            }
        }

        private VmModule module() {
            return NativeModule.builder("outer", 1, Object::new)
                    .function("inner", "0v_v", (_, call) -> inner(call))
                    .build();
        }

        /** A call that makes calls, and leaves one alone. */
        private void inner(VmCall call) {
            keep(fenced.get().function("add").invokeAsync(FOUR, FOUR));
            plain.get().function("add").invoke(FOUR, FOUR).close();
        }

        /** Has the results of a call closed. */
        void keep(CompletableFuture<Results> call) {
            calls.add(call);
            ends.add(call.handle((results, _) -> {
                if (results != null) {
                    results.close();
                }
                return true;
            }));
        }

        ProgramFunction function(Random random) {
            return switch (random.nextInt(5)) {
                case 0 -> outer.get().function("inner");
                case 1, 2 -> plain.get().function("add");
                default -> fenced.get().function("add");
            };
        }
    }

    @Test
    void whateverEndsACallNothingStays() throws Exception {
        int rounds = Effort.rounds(12);
        long seed = Effort.seed(RandomLivesTest.class, rounds + " rounds", 5);
        for (int i = 0; i < rounds; i++) {
            round(seed + i);
        }
    }

    private static void round(long seed) throws Exception {
        Random random = new Random(seed);
        Round round = new Round(random);
        Queue<Throwable> wrong = new ConcurrentLinkedQueue<>();
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Random own = new Random(random.nextLong());
            clients.add(Thread.ofPlatform().start(() -> {
                try {
                    for (int step = 0; step < STEPS; step++) {
                        step(own, round);
                    }
                } catch (Throwable e) {
                    wrong.add(e);
                }
            }));
        }
        for (Thread client : clients) {
            client.join();
        }
        String where = "seed %d".formatted(seed);
        assertThat(wrong).as(where).isEmpty();
        for (CompletableFuture<Boolean> each : round.ends) {
            assertThat(each.get(60, TimeUnit.SECONDS)).as(where).isTrue();
        }
        for (Fence each : round.signals) {
            try {
                each.await(Duration.ofSeconds(60));
            } catch (IreeException e) {
                assertThat(e).as(where).hasMessageNotContaining("not reached within");
            }
            each.close();
        }
        List<Program> programs = new ArrayList<>(round.closed);
        programs.addAll(List.of(round.plain.get(), round.fenced.get(), round.outer.get()));
        AdmissionGate gate = round.runtime.device().allocator().gate();
        long start = System.nanoTime();
        while (programs.stream().anyMatch(each -> each.monitor().activeCalls() > 0) || gate.committed() > 0) {
            assertThat(System.nanoTime() - start)
                    .as("%s: %s, %s", where, gate, describe(programs))
                    .isLessThan(TimeUnit.SECONDS.toNanos(30));
            Thread.onSpinWait();
        }
        assertThat(gate.toString()).as(where).contains(" 0 committed, 0 ahead").contains(" 0 calls outside");
        assertThat(round.runtime.device().queue(0).counters().pending())
                .as(where)
                .isZero();
        assertThat(round.runtime.device().allocator().statistics().bytesLive())
                .as(where)
                .isZero();
        round.runtime.close();
        LeakCheck.assertNone(round.runtime);
    }

    private static List<PendingCall> describe(List<Program> programs) {
        return programs.stream()
                .flatMap(each -> each.monitor().pendingCalls(100).stream())
                .toList();
    }

    private static void step(Random random, Round round) {
        try {
            switch (random.nextInt(10)) {
                case 0 -> round.load(random.nextBoolean() ? round.plain : round.fenced);
                case 1 -> {
                    if (random.nextInt(4) == 0) {
                        round.load(round.outer);
                    }
                }
                case 2, 3 -> blocking(random, round);
                default -> submitted(random, round);
            }
        } catch (IreeException e) {
            assertThat(e.code())
                    .as(e.toString())
                    .isIn(
                            StatusCode.CANCELLED,
                            StatusCode.FAILED_PRECONDITION,
                            StatusCode.RESOURCE_EXHAUSTED,
                            StatusCode.DEADLINE_EXCEEDED,
                            StatusCode.ABORTED);
        }
    }

    private static void blocking(Random random, Round round) {
        ProgramFunction function = round.function(random);
        Object[] inputs = function.name().equals("inner") ? new Object[0] : new Object[] {FOUR, FOUR};
        Thread self = Thread.currentThread();
        Thread other = null;
        int spins = random.nextInt(20_000);
        if (random.nextInt(3) == 0) {
            other = Thread.ofPlatform().start(() -> {
                for (int i = 0; i < spins; i++) {
                    Thread.onSpinWait();
                }
                self.interrupt();
            });
        }
        try {
            function.invoke(inputs).close();
        } finally {
            if (other != null) {
                boolean over = false;
                while (!over) {
                    try {
                        other.join();
                        over = true;
                    } catch (InterruptedException e) {
                        // the interrupt meant for the call
                    }
                }
            }
            Thread.interrupted();
        }
    }

    private static void submitted(Random random, Round round) {
        ProgramFunction function = round.function(random);
        Object[] inputs = function.name().equals("inner") ? new Object[0] : new Object[] {FOUR, FOUR};
        Timeline before = random.nextBoolean() ? round.runtime.createTimeline() : null;
        Timeline after = random.nextBoolean() ? round.runtime.createTimeline() : null;
        Fence wait = before == null ? null : before.at(1);
        Fence signal = after == null ? null : after.at(1);
        CompletableFuture<Results> call;
        try {
            CallOptions options = CallOptions.DEFAULTS
                    .after(wait)
                    .signal(signal)
                    .priority(random.nextInt(3))
                    .timeout(random.nextInt(5) == 0 ? Duration.ofNanos(random.nextInt(2_000_000)) : null);
            call = function.call(options, inputs);
            if (signal != null) {
                round.signals.add(signal);
            }
            if (wait != null && random.nextBoolean()) {
                wait.close();
            }
            reentrant(random, round, call);
            round.keep(call);
            int spins = random.nextInt(3) * random.nextInt(5_000);
            for (int i = 0; i < spins; i++) {
                Thread.onSpinWait();
            }
            end(random, round, call, before);
        } finally {
            if (before != null) {
                if (before.value() == 0 && before.semaphore().failure() == null) {
                    before.semaphore().signal(1);
                }
                if (wait != null && wait.isLive()) {
                    wait.close();
                }
                before.close();
            }
            if (after != null) {
                after.close();
            }
        }
    }

    private static void reentrant(Random random, Round round, CompletableFuture<Results> call) {
        switch (random.nextInt(6)) {
            case 0 ->
                call.whenComplete((_, _) -> {
                    call.cancel(true);
                    CompletableFuture<Results> other = round.calls.peek();
                    if (other != null) {
                        other.cancel(true);
                    }
                });
            case 1 -> call.whenComplete((_, _) -> round.load(random.nextBoolean() ? round.plain : round.fenced));
            default -> {}
        }
    }

    private static void end(Random random, Round round, CompletableFuture<Results> call, @Nullable Timeline before) {
        switch (random.nextInt(7)) {
            case 0 -> call.cancel(true);
            case 1 -> call.completeExceptionally(new IllegalStateException("by the caller"));
            case 2 -> {
                for (Program each : List.of(round.plain.get(), round.fenced.get(), round.outer.get())) {
                    for (PendingCall pending : each.monitor().pendingCalls(3)) {
                        each.monitor().cancelCall(pending.id());
                    }
                }
            }
            case 3 -> {
                if (before != null) {
                    before.semaphore().fail(IreeException.of(StatusCode.DATA_LOSS, "by the test"));
                }
            }
            default -> {}
        }
    }
}
