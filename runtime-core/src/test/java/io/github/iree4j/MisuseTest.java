package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.ElementType;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Several threads use the same few objects at random: use, close, and later use of objects. Every outcome is either
 * correct or an {@link IreeException} that names the error; at the end nothing is held. The seed is in the message of a
 * failure.
 */
@Tag("long")
@Timeout(600)
class MisuseTest {
    private static final int THREADS = 4;
    private static final int ROUNDS = Effort.rounds(60, 2_000);
    private static final int STEPS = 40;

    private static final Set<StatusCode> ALLOWED = Set.of(
            StatusCode.FAILED_PRECONDITION, // closed
            StatusCode.INVALID_ARGUMENT, // wrong type, shape, count
            StatusCode.OUT_OF_RANGE,
            StatusCode.CANCELLED,
            StatusCode.DEADLINE_EXCEEDED,
            StatusCode.UNAVAILABLE);

    @Test
    void compiledCodeSurvivesWhateverThreadsDo() throws Exception {
        ProgramOptions add = ProgramOptions.builder()
                .module(Fixtures.file("3.11.0/cpu/add.vmfb"))
                .build();
        hammer(add, "add", new float[] {11, 22, 33, 44});
    }

    @Test
    void modulesInJavaSurviveWhateverThreadsDo() throws Exception {
        NativeModule second = NativeModule.builder("module", 1, Object::new)
                .function("second", "0rr_r", (s, c) -> {
                    c.ref(Object.class);
                    Object kept = c.required(Object.class);
                    ((RefCounted) kept).retain();
                    c.returnRef(kept);
                })
                .attribute(
                        "iree.abi.declaration",
                        "sync func @second(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (%c: tensor<4xf32>)")
                .build();
        hammer(ProgramOptions.builder().module(second).build(), "second", new float[] {10, 20, 30, 40});
    }

    /** The shared objects of a round; replaced after being closed, so work never runs out. */
    private static final class Shared {
        final IreeRuntime runtime;
        final ProgramOptions options;
        final AtomicReference<Program> program;
        final AtomicReference<Tensor> a = new AtomicReference<>(left());
        final AtomicReference<Tensor> b = new AtomicReference<>(right());
        final AtomicReference<Results> results = new AtomicReference<>();

        Shared(ProgramOptions options) {
            this.options = options;
            this.runtime = IreeRuntime.create();
            this.program = new AtomicReference<>(runtime.load(options));
        }

        static Tensor left() {
            MemorySegment data = Arena.ofAuto().allocate(16, 64);
            MemorySegment.copy(new float[] {1, 2, 3, 4}, 0, data, ValueLayout.JAVA_FLOAT, 0, 4);
            return Tensor.wrap(data, ElementType.F32, 4);
        }

        static Tensor right() {
            return Tensor.of(new float[] {10, 20, 30, 40});
        }
    }

    private static long bytesLive(Shared shared) {
        return shared.runtime.device().allocator().statistics().bytesLive();
    }

    private static void hammer(ProgramOptions options, String function, float[] expected) throws Exception {
        long seed = Effort.seed(MisuseTest.class, ROUNDS + " rounds of " + function, 20261120);
        AtomicReference<Throwable> wrong = new AtomicReference<>();
        AtomicInteger right = new AtomicInteger();
        AtomicInteger refused = new AtomicInteger();
        for (int round = 0; round < ROUNDS && wrong.get() == null; round++) {
            Shared shared = new Shared(options);
            CyclicBarrier start = new CyclicBarrier(THREADS);
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                Random random = new Random(seed + round * 31L + t);
                threads.add(Thread.ofPlatform().start(() -> {
                    try {
                        start.await();
                        for (int i = 0; i < STEPS; i++) {
                            try {
                                step(shared, random, function, expected);
                                right.incrementAndGet();
                            } catch (IreeException e) {
                                if (!ALLOWED.contains(e.code())) {
                                    throw e;
                                }
                                refused.incrementAndGet();
                            }
                        }
                    } catch (Throwable e) {
                        wrong.compareAndSet(null, e);
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            shared.program.get().close();
            shared.runtime.close();
            Results last = shared.results.get();
            if (last != null) {
                last.close();
            }
            shared.a.get().close();
            shared.b.get().close();
            while (!shared.runtime.programs().isEmpty()) { // cancelled calls end on separate threads
                Thread.onSpinWait();
            }
            // The work ends on workers, which then release buffers.
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            while (bytesLive(shared) != 0 && System.nanoTime() < deadline) {
                Thread.onSpinWait();
            }
            assertThat(bytesLive(shared))
                    .as("bytes still held after round %d, seed %d", round, seed)
                    .isZero();
        }
        if (wrong.get() != null) {
            throw new AssertionError("seed " + seed, wrong.get());
        }
        assertThat(right.get()).as("steps that worked").isGreaterThan(ROUNDS);
        assertThat(refused.get()).as("steps that were refused").isGreaterThan(ROUNDS);
    }

    private static void step(Shared shared, Random random, String function, float[] expected) throws Exception {
        Program program = shared.program.get();
        Tensor a = shared.a.get();
        Tensor b = shared.b.get();
        switch (random.nextInt(16)) {
            case 0, 1, 2, 3 -> keep(shared, program.function(function).invoke(a, b));
            case 4 -> {
                CompletableFuture<Results> future = program.function(function).invokeAsync(a, b);
                if (random.nextBoolean()) {
                    future.cancel(true);
                }
                try {
                    keep(shared, future.get());
                } catch (ExecutionException e) {
                    throw e.getCause() instanceof IreeException failure ? failure : e;
                } catch (java.util.concurrent.CancellationException e) {
                    // as asked
                }
            }
            case 5 ->
                keep(
                        shared,
                        program.function(function)
                                .call(CallOptions.DEFAULTS.timeout(Duration.ofNanos(random.nextInt(200_000))), a, b)
                                .await());
            case 6, 7, 8 -> {
                Results results = shared.results.get();
                if (results != null) {
                    Tensor sum = results.tensor(0);
                    assertThat(sum.toFloatArray()).containsExactly(expected);
                    try (Results again = program.function(function).invoke(sum, sum)) {
                        assertThat(again.tensor(0).toFloatArray()[3]).isIn(expected[3], 2 * expected[3]);
                    }
                }
            }
            case 9 -> {
                Results results = shared.results.get();
                if (results != null) {
                    try (Tensor taken = results.take(0)) {
                        assertThat(taken.toString()).startsWith("4xf32=");
                    }
                }
            }
            case 10 -> {
                Results results = shared.results.get();
                if (results != null) {
                    results.close();
                    results.close();
                }
            }
            case 11 -> {
                Tensor old = shared.a.getAndSet(Shared.left());
                old.close();
                assertThat(program.function(function).invoke(old, b)).isNull();
            }
            case 12 -> {
                shared.b.getAndSet(Shared.right()).close();
                b.close();
                b.toFloatArray();
            }
            case 13 -> {
                shared.program.getAndSet(shared.runtime.load(shared.options)).close();
                program.close();
                program.function(function).invoke(a, b).close();
            }
            case 14 -> wrongInput(program.function(function), random, a);
            default -> confinedAndShort(program.function(function), random, expected);
        }
    }

    private static void keep(Shared shared, Results results) {
        Results before = shared.results.getAndSet(results);
        if (before != null) {
            before.close();
        }
    }

    private static void wrongInput(ProgramFunction function, Random random, Tensor a) {
        Object[] wrong = {
            new float[3],
            new int[4],
            "text",
            1,
            new float[2][2],
            Tensor.zeros(ElementType.F16, 4),
            Tensor.zeros(ElementType.F32, 2, 2),
            Tensor.zeros(ElementType.F32),
            new Object()
        };
        Object input = wrong[random.nextInt(wrong.length)];
        switch (random.nextInt(3)) {
            case 0 -> function.invoke(a, input);
            case 1 -> function.invoke(input);
            default -> function.invoke(input, a, a);
        }
        throw new AssertionError("accepted " + input);
    }

    /** Memory closed by its owner during the call, or confined to a thread. */
    private static void confinedAndShort(ProgramFunction function, Random random, float[] expected) throws Exception {
        Arena arena = random.nextBoolean() ? Arena.ofConfined() : Arena.ofShared();
        CompletableFuture<Results> future;
        boolean closed = false;
        try {
            MemorySegment segment = arena.allocate(20, 4).asSlice(4);
            MemorySegment.copy(new float[] {10, 20, 30, 40}, 0, segment, ValueLayout.JAVA_FLOAT_UNALIGNED, 0, 4);
            Tensor tensor = Tensor.wrap(segment, ElementType.F32, 4);
            future = function.invokeAsync(new float[] {1, 2, 3, 4}, tensor);
            arena.close();
            closed = true;
            try (Results results = future.get()) {
                assertThat(results.tensor(0).toFloatArray()).containsExactly(expected);
            } catch (ExecutionException e) {
                throw e.getCause() instanceof IreeException failure ? failure : e;
            }
            function.invoke(tensor, tensor).close();
        } finally {
            if (!closed) {
                arena.close();
            }
        }
        throw new AssertionError("read closed memory");
    }
}
