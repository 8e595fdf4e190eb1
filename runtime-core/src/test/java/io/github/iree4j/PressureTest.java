package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Callers that together need more memory than the device has, while each call fits alone: every call is answered, none
 * fails, and each caller is served. A call of {@code outer} takes 16,900 bytes of inputs and 64 times as much of memory
 * in queue order. Budgets are multiples of the bytes alive at most during a single call. {@code load.Goodput} of the
 * benchmarks measures the same.
 */
@Tag("long")
@Timeout(300)
class PressureTest {
    private static final int ROWS = 65;
    private static final int COLUMNS = 64;
    private static final int CALLERS = 16;
    private static final int CHAIN = 4;
    private static final int CALLS = Effort.rounds(48, 800);

    private static final Tensor FACTORS = factors();

    private static long peak;

    /** How callers call. */
    enum Way {
        BLOCKING,
        ASYNC,
        /** Every second caller blocks. */
        MIXED,
        /** Chains of a function with a wait for its work, each call behind the fence of the previous call. */
        FENCES,
        /** The same, the last call submitted first. */
        BACKWARDS,
        /** Chains of a function that takes fences. */
        PIPELINES;

        private String module() {
            return this == PIPELINES ? "3.13.0/cpu-async/outer.vmfb" : "3.13.0/cpu/outer.vmfb";
        }
    }

    @BeforeAll
    static void peakOfACall() {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = runtime.load(Fixtures.file(Way.BLOCKING.module()))) {
            block(program, 1);
            peak = runtime.device().allocator().statistics().bytesPeak();
        }
        assertThat(peak).isBetween(1_064_960L + 16_640 + 260, 1_064_960L + 16_640 + 1024);
    }

    static Stream<Arguments> cells() {
        return Stream.of(Way.values())
                .flatMap(way -> DoubleStream.of(1.05, 1.2, 1.5, 2, 3).mapToObj(budget -> Arguments.of(way, budget)));
    }

    private static IreeRuntime open(double budget) {
        return IreeRuntime.builder().memoryLimit((long) (budget * peak)).build();
    }

    @ParameterizedTest
    @ValueSource(doubles = {1.05, 1.2, 1.5, 2, 3})
    void aSingleCallerIsAnswered(double budget) {
        try (IreeRuntime runtime = open(budget);
                Program program = runtime.load(Fixtures.file(Way.BLOCKING.module()))) {
            for (int i = 0; i < CALLS; i++) {
                block(program, i);
                async(program, i);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("cells")
    void everyCallIsAnswered(Way way, double budget) throws Exception {
        press(way, budget, true);
    }

    /** Nothing is known of the calls' need. */
    @ParameterizedTest
    @EnumSource
    void everyFirstCallIsAnswered(Way way) throws Exception {
        for (double budget : new double[] {1.2, 2}) {
            press(way, budget, false);
        }
    }

    /**
     * Of at most as many rows as an earlier call: two calls that fit together by bytes must have room for the waste of
     * slabs, too.
     */
    @Test
    void callsOfAnyShapeAreAnswered() throws Exception {
        long seed = Effort.seed(PressureTest.class, "shapes", 1);
        Queue<Throwable> wrong = new ConcurrentLinkedQueue<>();
        try (IreeRuntime runtime = open(1.5)) {
            List<Program> programs = new ArrayList<>();
            List<Thread> callers = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                if (i % 2 == 0) {
                    programs.add(runtime.load(Fixtures.file(Way.BLOCKING.module())));
                    block(programs.getLast(), i);
                }
                Random random = new Random(seed + i);
                ProgramFunction outer = programs.getLast().function("outer");
                callers.add(Thread.ofPlatform().unstarted(() -> {
                    try {
                        for (int call = 0; call < 4 * CALLS && wrong.isEmpty(); call++) {
                            int rows = 1 + random.nextInt(ROWS);
                            Tensor values = Tensor.of(new float[rows * COLUMNS], rows, COLUMNS);
                            Tensor factors = Tensor.of(new float[rows], rows, 1);
                            (random.nextBoolean()
                                            ? outer.invoke(values, factors)
                                            : outer.invokeAsync(values, factors).join())
                                    .close();
                        }
                    } catch (Throwable e) {
                        wrong.add(e);
                    }
                }));
            }
            callers.forEach(Thread::start);
            for (Thread caller : callers) {
                caller.join();
            }
            programs.forEach(Program::close);
            assertThat(wrong).as("seed %d", seed).isEmpty();
        }
    }

    private static void press(Way way, double budget, boolean isWarm) throws Exception {
        Queue<Throwable> wrong = new ConcurrentLinkedQueue<>();
        try (IreeRuntime runtime = open(budget)) {
            List<Program> programs = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                programs.add(runtime.load(Fixtures.file(way.module())));
                if (isWarm) {
                    block(programs.getLast(), i);
                }
            }
            CyclicBarrier start = new CyclicBarrier(CALLERS);
            List<Thread> callers = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                int caller = i;
                callers.add(Thread.ofPlatform().start(() -> {
                    try {
                        start.await();
                        for (int call = 0; call < CALLS && wrong.isEmpty(); call++) {
                            call(runtime, programs.get(caller), way, caller, call);
                        }
                    } catch (Throwable e) {
                        wrong.add(e);
                    }
                }));
            }
            for (Thread caller : callers) {
                caller.join();
            }
            programs.forEach(Program::close);
            assertThat(wrong).isEmpty();
            assertThat(runtime.device().allocator().statistics().bytesLive()).isZero();
        }
    }

    private static void call(IreeRuntime runtime, Program program, Way way, int caller, int number) {
        switch (way) {
            case BLOCKING -> block(program, number);
            case ASYNC -> async(program, number);
            case MIXED -> {
                if (caller % 2 == 0) {
                    block(program, number);
                } else {
                    async(program, number);
                }
            }
            default -> chain(runtime, program, number, way == Way.BACKWARDS);
        }
    }

    private static void block(Program program, int number) {
        check(program.function("outer").invoke(input(number), FACTORS), number);
    }

    private static void async(Program program, int number) {
        check(program.function("outer").invokeAsync(input(number), FACTORS).join(), number);
    }

    private static void chain(IreeRuntime runtime, Program program, int number, boolean isBackwards) {
        List<CompletableFuture<Results>> calls = new ArrayList<>();
        try (Timeline timeline = runtime.createTimeline()) {
            for (int i = 0; i < CHAIN; i++) {
                int point = isBackwards ? CHAIN - 1 - i : i;
                try (Fence after = point == 0 ? null : timeline.at(point);
                        Fence signal = timeline.at(point + 1L)) {
                    calls.add(program.function("outer")
                            .call(CallOptions.DEFAULTS.after(after).signal(signal), input(number + point), FACTORS));
                }
            }
            if (isBackwards) {
                Collections.reverse(calls);
            }
            timeline.await(CHAIN);
            for (int i = 0; i < CHAIN; i++) {
                check(calls.get(i).join(), number + i);
            }
        }
    }

    private static void check(Results results, int number) {
        try (results) {
            float square = element(number) * element(number);
            assertThat(results.tensor(0).toFloatArray())
                    .hasSize(ROWS)
                    .startsWith(square)
                    .endsWith(8 * square);
        }
    }

    private static float element(int number) {
        return 1 + number % 100;
    }

    /** An element of the first row, two of the last, and zeros. */
    private static Tensor input(int number) {
        float[] values = new float[ROWS * COLUMNS];
        values[0] = element(number);
        values[values.length - 1] = element(number);
        values[values.length - 2] = element(number);
        return Tensor.of(values, ROWS, COLUMNS);
    }

    /** An element for each row, two for the last. */
    private static Tensor factors() {
        float[] values = new float[ROWS];
        Arrays.fill(values, 1);
        values[ROWS - 1] = 2;
        return Tensor.of(values, ROWS, 1);
    }
}
