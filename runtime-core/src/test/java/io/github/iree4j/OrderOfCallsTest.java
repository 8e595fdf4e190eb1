package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.pool.Admission;
import io.github.iree4j.hal.pool.AdmissionGate;
import io.github.iree4j.hal.pool.KnownNeed;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls of a thread to a program with state are made in the order of submission also where memory is short. */
@Tag("long")
@Timeout(300)
class OrderOfCallsTest {
    private static final int ROUNDS = Effort.rounds(50, 1_000);
    private static final float[] ONES = {1, 1, 1, 1};
    private static final Tensor VALUES = Tensor.of(new float[20 * 64], 20, 64);
    private static final Tensor FACTORS = Tensor.of(new float[20], 20, 1);

    private long limit;

    @BeforeEach
    void limitToOneCall() {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program outer = runtime.load(Fixtures.file("3.13.0/cpu/outer.vmfb"))) {
            outer.function("outer").invoke(VALUES, FACTORS).close();
            limit = runtime.device().allocator().statistics().bytesPeak() * 103 / 100;
        }
    }

    /** The first in line is a sleeping thread of another program. */
    @Test
    void aBlockingCallIsMadeBehindAnAsynchronousCallInLine() throws Exception {
        try (IreeRuntime runtime = IreeRuntime.builder().memoryLimit(limit).build();
                Program state = runtime.load(Fixtures.file("3.13.0/cpu/state_tensor.vmfb"));
                Program other = runtime.load(Fixtures.file("3.13.0/cpu/outer.vmfb"))) {
            other.function("outer").invoke(VALUES, FACTORS).close();
            state.function("get").invoke().close();
            state.function("add").invoke((Object) ONES).close();
            AdmissionGate gate = runtime.device().allocator().gate();
            for (int i = 0; i < ROUNDS; i++) {
                float before = first(state);
                Admission all = KnownNeed.admitForAll(gate, limit);
                Thread sleeper = Thread.ofPlatform()
                        .start(() ->
                                other.function("outer").invoke(VALUES, FACTORS).close());
                while (gate.waiting() != 1 || sleeper.getState() != Thread.State.WAITING) {
                    Thread.onSpinWait();
                }
                CompletableFuture<Results> added = state.function("add").invokeAsync((Object) ONES);
                assertThat(gate.waiting()).isEqualTo(2);
                all.exit();
                assertThat(first(state)).as("round %d", i).isEqualTo(before + 1);
                added.join().close();
                sleeper.join();
            }
        }
    }

    private static float first(Program state) {
        try (Results got = state.function("get").invoke()) {
            return got.tensor(0).toFloatArray()[0];
        }
    }

    /** With unknown needs at first, beside callers of other programs. */
    @Test
    void asynchronousCallsAreMadeInTheOrderOfSubmission() throws Exception {
        try (IreeRuntime runtime = IreeRuntime.builder().memoryLimit(limit).build();
                Program first = runtime.load(Fixtures.file("3.13.0/cpu/outer.vmfb"));
                Program second = runtime.load(Fixtures.file("3.13.0/cpu/outer.vmfb"))) {
            AtomicBoolean isOver = new AtomicBoolean();
            Thread blocking = callUntil(isOver, () -> first.function("outer").invoke(VALUES, FACTORS));
            Thread waiting = callUntil(
                    isOver,
                    () -> second.function("outer").invokeAsync(VALUES, FACTORS).join());
            try {
                for (int i = 0; i < ROUNDS; i++) {
                    try (Program state = runtime.load(Fixtures.file("3.13.0/cpu/state_tensor.vmfb"))) {
                        float before = first(state);
                        List<CompletableFuture<Results>> calls = new ArrayList<>();
                        for (int j = 0; j < 30; j++) {
                            calls.add(state.function("add").invokeAsync((Object) ONES));
                        }
                        for (int j = 0; j < calls.size(); j++) {
                            try (Results sum = calls.get(j).join()) {
                                assertThat(sum.tensor(0).toFloatArray()[0])
                                        .as("call %d of round %d", j, i)
                                        .isEqualTo(before + j + 1);
                            }
                        }
                    }
                }
            } finally {
                isOver.set(true);
                blocking.join();
                waiting.join();
            }
        }
    }

    private static Thread callUntil(AtomicBoolean isOver, Supplier<Results> call) {
        return Thread.ofPlatform().start(() -> {
            while (!isOver.get()) {
                call.get().close();
            }
        });
    }
}
