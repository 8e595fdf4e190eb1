package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.module.Export;
import io.github.iree4j.module.IreeModule;
import io.github.iree4j.module.JavaModule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Calls submitted before the call that reaches their fence leave room for the latter, whatever its need. Nobody waits
 * here until waiting is pointless: all of them would take minutes. A row takes 256 bytes of inputs and 64 times as much
 * of memory in queue order.
 */
@Timeout(60)
class CallsAheadTest {
    private static final int SMALL = 65;
    private static final int LARGE = 260;
    private static final int COLUMNS = 64;
    private static final Duration MINUTES = Duration.ofMinutes(5);

    private static Program load(IreeRuntime runtime) {
        return runtime.load(ProgramOptions.builder()
                .module(Fixtures.file("3.13.0/cpu-async/outer.vmfb"))
                .overlappingCalls(true)
                .build());
    }

    private static IreeRuntime open(double budget) {
        DeviceOptions options = DeviceOptions.builder()
                .memoryLimit((long) (budget * peak()))
                .memoryWait(MINUTES)
                .memoryHostWait(MINUTES)
                .build();
        return IreeRuntime.builder().device("local", "local://", options).build();
    }

    /** Bytes alive at most during a large call. */
    private static long peak() {
        try (IreeRuntime runtime = IreeRuntime.create();
                Program program = load(runtime)) {
            call(program, LARGE);
            return runtime.device().allocator().statistics().bytesPeak();
        }
    }

    private static void call(Program program, int rows) {
        program.function("outer").invoke(input(rows), factors(rows)).close();
    }

    private static Tensor input(int rows) {
        return ones(rows, COLUMNS);
    }

    private static Tensor factors(int rows) {
        return ones(rows, 1);
    }

    private static Tensor ones(int rows, int columns) {
        float[] values = new float[rows * columns];
        Arrays.fill(values, 1);
        return Tensor.of(values, rows, columns);
    }

    /** Of the large call nothing is known, or only the peak of a call before. */
    @ParameterizedTest
    @CsvSource({"1.05,true", "1.1,true", "1.5,true", "3,true", "1.5,false", "3,false"})
    void aLargeCallAwaitedByManySmallCallsIsAnswered(double budget, boolean isKnown) throws Exception {
        try (IreeRuntime runtime = open(budget);
                Program small = load(runtime);
                Program large = load(runtime);
                Timeline timeline = runtime.createTimeline();
                Fence done = timeline.at(1)) {
            call(small, SMALL);
            if (isKnown) {
                call(large, LARGE);
            }
            List<CompletableFuture<Results>> calls = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                calls.add(small.function("outer").call(CallOptions.DEFAULTS.after(done), input(SMALL), factors(SMALL)));
            }
            calls.add(large.function("outer").call(CallOptions.DEFAULTS.signal(done), input(LARGE), factors(LARGE)));
            for (CompletableFuture<Results> call : calls) {
                call.get(50, TimeUnit.SECONDS).close();
            }
        }
    }

    private static IreeRuntime openAdd(long limit) {
        DeviceOptions options = DeviceOptions.builder()
                .memoryLimit(limit)
                .memoryWait(MINUTES)
                .memoryHostWait(MINUTES)
                .build();
        return IreeRuntime.builder().device("local", "local://", options).build();
    }

    private static void add(Program program, int length) {
        program.function("add").invoke(new float[length], new float[length]).close();
    }

    /** The inputs of the call ahead are in longer slabs of an earlier call. */
    @ParameterizedTest
    @CsvSource({"9009,10000", "9009,10032", "9009,10100", "7001,7900", "15000,16000"})
    void aCallAwaitedByACallAheadInLongerSlabsIsAnswered(int ahead, int before) throws Exception {
        int large = 32768;
        try (IreeRuntime runtime = openAdd(471_859); // 1.2 times the need of the large call
                Program early = runtime.load(Fixtures.file("3.13.0/cpu-async/dynamic_add.vmfb"));
                Program ready = runtime.load(Fixtures.file("3.13.0/cpu/dynamic_add.vmfb"));
                Timeline timeline = runtime.createTimeline();
                Fence gate = timeline.at(1);
                Fence done = timeline.at(2)) {
            add(ready, large);
            add(early, large);
            add(early, before);
            CompletableFuture<Results> call = early.function("add")
                    .call(CallOptions.DEFAULTS.after(gate).signal(done), new float[ahead], new float[ahead]);
            CompletableFuture<Results> awaited = ready.function("add").invokeAsync(new float[large], new float[large]);
            awaited.get(50, TimeUnit.SECONDS).close();
            gate.signal();
            call.get(50, TimeUnit.SECONDS).close();
            done.await();
        }
    }

    @Test
    void anImpossibleCallKeepsNoCallFromStartingAheadOfItsFence() throws Exception {
        try (IreeRuntime runtime = openAdd(16 << 20);
                Program early = runtime.load(Fixtures.file("3.13.0/cpu-async/dynamic_add.vmfb"));
                Program other = runtime.load(Fixtures.file("3.13.0/cpu/dynamic_add.vmfb"));
                Timeline timeline = runtime.createTimeline();
                Fence gate = timeline.at(1);
                Fence done = timeline.at(2)) {
            add(early, 1000);
            assertThatThrownBy(() -> add(other, 1_500_000)).hasMessageContaining("limit");
            CompletableFuture<Results> call = early.function("add")
                    .call(CallOptions.DEFAULTS.after(gate).signal(done), new float[4], new float[4]);
            call.get(50, TimeUnit.SECONDS).close(); // with results not there yet
            gate.signal();
            done.await();
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {1.05, 1.06, 1.08, 1.2, 2})
    void callsOfAChainSubmittedBackwardsAreAnsweredOneByOne(double budget) {
        try (IreeRuntime runtime = open(budget);
                Program program = load(runtime);
                Timeline timeline = runtime.createTimeline()) {
            call(program, LARGE);
            List<CompletableFuture<Results>> calls = new ArrayList<>();
            for (int i = 7; i >= 0; i--) {
                try (Fence after = i == 0 ? null : timeline.at(i);
                        Fence done = timeline.at(i + 1L)) {
                    calls.add(program.function("outer")
                            .call(CallOptions.DEFAULTS.after(after).signal(done), input(LARGE), factors(LARGE)));
                }
            }
            timeline.await(8);
            calls.forEach(call -> call.join().close());
        }
    }

    /** A module with a function that submits a call behind a fence. */
    @IreeModule("custom")
    static final class Submitting {
        private final ProgramFunction inner;
        private final Fence after;
        private @Nullable CompletableFuture<Results> submitted;

        Submitting(ProgramFunction inner, Fence after) {
            this.inner = inner;
            this.after = after;
        }

        @Export("twice")
        int twice(int value) {
            submitted = inner.call(CallOptions.DEFAULTS.after(after), input(SMALL), factors(SMALL));
            return 2 * value;
        }

        @Export("double")
        Tensor same(Tensor value) {
            return value;
        }
    }

    private static DeviceOptions limited(long bytes) {
        return DeviceOptions.builder()
                .memoryLimit(bytes)
                .memoryWait(MINUTES)
                .memoryHostWait(MINUTES)
                .build();
    }

    @Test
    void aNestedCallAheadOfItsFenceAsksAtItsFirstDeviceOnly() throws Exception {
        try (IreeRuntime runtime = IreeRuntime.builder()
                        .device("full", "local://", limited(1 << 20))
                        .device("first", "local://", limited(1 << 30))
                        .device("around", "local://", limited(1 << 30))
                        .build();
                Tensor kept = runtime.upload(ones(1000, COLUMNS)); // without room to count on for anybody beside it
                Program program = runtime.load(ProgramOptions.builder()
                        .module(Fixtures.file("3.13.0/cpu-async/outer.vmfb"))
                        .device("first")
                        .device("full")
                        .overlappingCalls(true)
                        .build());
                Timeline timeline = runtime.createTimeline();
                Fence after = timeline.at(1)) {
            assertThat(kept.shape().rank()).isEqualTo(2);
            Submitting module = new Submitting(program.function("outer"), after);
            try (Program around = runtime.load(ProgramOptions.builder()
                    .module(JavaModule.of(module))
                    .module(Fixtures.file("3.13.0/cpu/consumer.vmfb"))
                    .device("around")
                    .build())) {
                around.function("main").invoke(4, new float[] {1, 2, 3, 4}).close();
                CompletableFuture<Results> submitted = Objects.requireNonNull(module.submitted);
                assertThat(runtime.devices().get(1).allocator().statistics().bytesLive())
                        .as("its inputs, since made")
                        .isGreaterThanOrEqualTo((long) SMALL * (COLUMNS + 1) * Float.BYTES);
                after.signal();
                submitted.get(50, TimeUnit.SECONDS).close();
            }
        }
    }

    @Test
    void whereThereIsPlentyCallsAreMadeAhead() {
        try (IreeRuntime runtime = open(100);
                Program program = load(runtime);
                Timeline timeline = runtime.createTimeline();
                Fence done = timeline.at(1)) {
            call(program, SMALL);
            List<CompletableFuture<Results>> calls = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                calls.add(
                        program.function("outer").call(CallOptions.DEFAULTS.after(done), input(SMALL), factors(SMALL)));
            }
            assertThat(runtime.device().allocator().statistics().bytesLive())
                    .as("inputs of all")
                    .isGreaterThan(100L * SMALL * (COLUMNS + 1) * Float.BYTES);
            done.signal();
            calls.forEach(call -> call.join().close());
        }
    }
}
