package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.pool.AdmissionGate;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Programs on two devices, of which either or both are short of memory: each call is answered, whichever device comes
 * first.
 */
@Tag("long")
@Timeout(300)
class TwoDevicesPressureTest {
    private static final int SIZE = 50_000;
    private static final int CALLERS = 8;
    private static final int CALLS = Effort.rounds(12, 200);

    static Stream<Arguments> cells() {
        return Stream.of(true, false)
                .flatMap(blocking -> Stream.of(
                        Arguments.of(blocking, 100, 1.05),
                        Arguments.of(blocking, 100, 2),
                        Arguments.of(blocking, 1.05, 100),
                        Arguments.of(blocking, 1.05, 1.05),
                        Arguments.of(blocking, 1.5, 3)));
    }

    private static Program load(IreeRuntime runtime, boolean isSwapped) {
        return runtime.load(ProgramOptions.builder()
                .module(Fixtures.file("3.13.0/cpu-two/alternating_devices.vmfb"))
                .device(isSwapped ? "b" : "a")
                .device(isSwapped ? "a" : "b")
                .build());
    }

    private static IreeRuntime open(DeviceOptions a, DeviceOptions b) {
        return IreeRuntime.builder()
                .device("a", "local://", a)
                .device("b", "local://", b)
                .build();
    }

    private static void call(Program program, boolean blocking, int number) {
        float[] values = new float[SIZE];
        values[SIZE - 1] = number;
        ProgramFunction function = program.function("alternate");
        try (Results results = blocking
                ? function.invoke((Object) values)
                : function.invokeAsync((Object) values).join()) {
            assertThat(results.tensor(0).toFloatArray()).startsWith(-31).endsWith(32 * number - 31);
            assertThat(results.tensor(1).toFloatArray()).startsWith(-30).endsWith(32 * number - 30);
        }
    }

    /** The peaks of a call: on the first device of the program, and on the second. */
    private static long[] peaks() {
        try (IreeRuntime runtime = open(DeviceOptions.DEFAULTS, DeviceOptions.DEFAULTS);
                Program program = load(runtime, false)) {
            call(program, true, 1);
            return runtime.devices().stream()
                    .mapToLong(each -> each.allocator().statistics().bytesPeak())
                    .toArray();
        }
    }

    private static DeviceOptions limit(double budget, long bytes) {
        return DeviceOptions.builder().memoryLimit((long) (budget * bytes)).build();
    }

    @ParameterizedTest
    @MethodSource("cells")
    void everyCallIsAnswered(boolean blocking, double ofA, double ofB) throws Exception {
        long[] peaks = peaks();
        long most = Math.max(peaks[0], peaks[1]);
        Queue<Throwable> wrong = new ConcurrentLinkedQueue<>();
        try (IreeRuntime runtime = open(limit(ofA, most), limit(ofB, most))) {
            List<Program> programs = new ArrayList<>();
            List<Thread> callers = new ArrayList<>();
            CyclicBarrier start = new CyclicBarrier(CALLERS);
            for (int i = 0; i < CALLERS; i++) {
                programs.add(load(runtime, i % 2 == 1));
            }
            for (Program program : programs) {
                callers.add(Thread.ofPlatform().start(() -> {
                    try {
                        start.await();
                        for (int call = 0; call < CALLS && wrong.isEmpty(); call++) {
                            call(program, blocking, call);
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
            for (Device each : runtime.devices()) {
                assertThat(each.allocator().statistics().bytesLive())
                        .as(each.id())
                        .isZero();
                assertThat(Objects.requireNonNull(each.allocator().gate()).committed())
                        .as(each.id())
                        .isZero();
            }
        }
    }

    /** At whatever moment: at a gate, between two gates, made, or over. */
    @Test
    void cancelledCallsLeaveNothingAtEitherDevice() throws Exception {
        long[] peaks = peaks();
        long most = Math.max(peaks[0], peaks[1]);
        long seed = Effort.seed(TwoDevicesPressureTest.class, "cancelled calls", 1);
        try (IreeRuntime runtime = open(limit(1.1, most), limit(1.2, most))) {
            List<Program> programs = new ArrayList<>();
            List<Thread> callers = new ArrayList<>();
            AtomicInteger answered = new AtomicInteger();
            for (int i = 0; i < CALLERS; i++) {
                Program program = load(runtime, i % 2 == 1);
                programs.add(program);
                Random random = new Random(seed + i);
                callers.add(Thread.ofPlatform().start(() -> {
                    for (int call = 0; call < 4 * CALLS; call++) {
                        CompletableFuture<Results> future =
                                program.function("alternate").invokeAsync((Object) new float[SIZE]);
                        future.whenComplete((results, _) -> {
                            if (results != null) {
                                answered.incrementAndGet();
                                results.close();
                            }
                        });
                        if (random.nextInt(3) > 0) {
                            for (int spin = random.nextInt(20_000); spin > 0; spin--) {
                                Thread.onSpinWait();
                            }
                            future.cancel(true);
                        }
                        future.handle((_, _) -> null).join();
                    }
                }));
            }
            for (Thread caller : callers) {
                caller.join();
            }
            programs.forEach(Program::close);
            assertThat(answered.get()).isPositive();
            for (Device each : runtime.devices()) {
                AdmissionGate gate = Objects.requireNonNull(each.allocator().gate());
                assertThat(each.allocator().statistics().bytesLive())
                        .as(each.id())
                        .isZero();
                assertThat(gate.committed() + gate.waiting()).as(each.id()).isZero();
            }
        }
    }

    @Test
    void theMessageOfShortageNamesTheDevice() {
        try (IreeRuntime runtime = open(DeviceOptions.DEFAULTS, limit(1, 4L * SIZE));
                Program program = load(runtime, false)) {
            assertThatThrownBy(() -> call(program, true, 1))
                    .hasMessageContaining("the limit of device 'b'")
                    .hasMessageNotContaining("device 'a'");
        }
    }
}
