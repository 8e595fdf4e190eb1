package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.module.Export;
import io.github.iree4j.module.IreeModule;
import io.github.iree4j.module.JavaModule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Calls with Java functions that call other programs, and together need more memory than the device has: each is
 * answered, since the need of an inner call counts with the outer call. Nearly all of the need is the need of the inner
 * calls.
 */
@Tag("long")
@Timeout(300)
class NestedCallsPressureTest {
    private static final int ROWS = 65;
    private static final int COLUMNS = 64;
    private static final int CALLERS = 8;
    private static final int CALLS = Effort.rounds(60, 400);
    private static final float[] FOUR = {1, 2, 3, 4};

    /** The ways of making the inner and the outer call. */
    enum Way {
        INVOKE,
        JOIN,
        FUTURE_AROUND,
        /** The inner program is on a device unknown to the outer program. */
        ELSEWHERE,
        /** The inner call waits for a fence reached at the end of the outer call. */
        OUTLIVING;
    }

    static Stream<Arguments> cells() {
        return Stream.of(Way.values())
                .flatMap(way -> DoubleStream.of(1.05, 1.5, 2, 3).mapToObj(budget -> Arguments.of(way, budget)));
    }

    @IreeModule("custom")
    static final class Around {
        private final ProgramFunction inner;
        private final Way way;
        private @Nullable Fence after;
        private @Nullable CompletableFuture<Results> left;

        Around(ProgramFunction inner, Way way) {
            this.inner = inner;
            this.way = way;
        }

        @Export("twice")
        int twice(int value) {
            float[] values = new float[ROWS * COLUMNS];
            values[0] = value;
            float[] factors = new float[ROWS];
            Arrays.fill(factors, 1);
            Tensor in = Tensor.of(values, ROWS, COLUMNS);
            Tensor by = Tensor.of(factors, ROWS, 1);
            if (after != null) {
                left = inner.call(CallOptions.DEFAULTS.after(after), in, by);
                return value * value;
            }
            try (Results results = way == Way.JOIN ? inner.invokeAsync(in, by).join() : inner.invoke(in, by)) {
                return first(results);
            }
        }

        @Export("double")
        Tensor same(Tensor value) {
            return value;
        }
    }

    private static int first(Results results) {
        return (int) results.tensor(0).toFloatArray()[0];
    }

    private record Pair(Timeline timeline, Around around, Program inner, Program outer) implements AutoCloseable {
        static Pair load(IreeRuntime runtime, Way way) {
            Program inner = runtime.load(ProgramOptions.builder()
                    .module(Fixtures.file("3.13.0/cpu/outer.vmfb"))
                    .device(way == Way.ELSEWHERE ? "b" : "a")
                    .build());
            Around around = new Around(inner.function("outer"), way);
            return new Pair(
                    runtime.createTimeline(),
                    around,
                    inner,
                    runtime.load(ProgramOptions.builder()
                            .module(JavaModule.of(around))
                            .module(Fixtures.file("3.13.0/cpu/consumer.vmfb"))
                            .device("a")
                            .build()));
        }

        void call(Way way, int value) {
            ProgramFunction main = outer.function("main");
            long next = timeline.semaphore().value() + 1;
            try (Fence fence = timeline.at(next)) {
                around.after = way == Way.OUTLIVING ? fence : null;
                CompletableFuture<Results> later = way == Way.FUTURE_AROUND ? main.invokeAsync(value, FOUR) : null;
                try (Results results = later == null ? main.invoke(value, FOUR) : later.join()) {
                    assertThat(results.intValue(0)).isEqualTo(value * value);
                }
                timeline.semaphore().signal(next);
            }
            if (way == Way.OUTLIVING) {
                try (Results results = Objects.requireNonNull(around.left).join()) {
                    assertThat(first(results)).isEqualTo(value * value);
                }
            }
        }

        @Override
        public void close() {
            outer.close();
            inner.close();
            timeline.close();
        }
    }

    private static IreeRuntime open(DeviceOptions options) {
        return IreeRuntime.builder()
                .device("a", "local://", options)
                .device("b", "local://", options)
                .build();
    }

    private static long peak() {
        try (IreeRuntime runtime = open(DeviceOptions.DEFAULTS);
                Pair pair = Pair.load(runtime, Way.INVOKE)) {
            pair.call(Way.INVOKE, 3);
            return runtime.device().allocator().statistics().bytesPeak();
        }
    }

    @ParameterizedTest
    @MethodSource("cells")
    void everyCallIsAnswered(Way way, double budget) throws Exception {
        Queue<Throwable> wrong = new ConcurrentLinkedQueue<>();
        DeviceOptions options =
                DeviceOptions.builder().memoryLimit((long) (budget * peak())).build();
        try (IreeRuntime runtime = open(options)) {
            List<Pair> pairs = new ArrayList<>();
            CyclicBarrier start = new CyclicBarrier(CALLERS);
            List<Thread> callers = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                pairs.add(Pair.load(runtime, way));
                if (way == Way.ELSEWHERE || way == Way.OUTLIVING) { // nobody knows before
                    pairs.getLast().call(way, 2);
                }
            }
            for (Pair pair : pairs) {
                callers.add(Thread.ofPlatform().start(() -> {
                    try {
                        start.await();
                        for (int call = 0; call < CALLS && wrong.isEmpty(); call++) {
                            pair.call(way, 1 + call % 10);
                        }
                    } catch (Throwable e) {
                        wrong.add(e);
                    }
                }));
            }
            for (Thread caller : callers) {
                caller.join();
            }
            pairs.forEach(Pair::close);
            assertThat(wrong).isEmpty();
            for (Device each : runtime.devices()) {
                assertThat(each.allocator().statistics().bytesLive()).isZero();
                assertThat(Objects.requireNonNull(each.allocator().gate()).committed())
                        .isZero();
            }
        }
    }
}
