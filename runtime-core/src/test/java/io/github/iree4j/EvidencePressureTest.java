package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmModule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The evidence of earlier calls is used for suitable calls only. */
@Tag("long")
@Timeout(300)
class EvidencePressureTest {
    private static final int SIZE = 100_000;
    private static final int CALLERS = 16;
    private static final int CALLS = Effort.rounds(60, 600);
    private static final long NEED = 3 * 4L * SIZE;

    private static Program load(IreeRuntime runtime) {
        return runtime.load(Fixtures.file("3.13.0/cpu/dynamic_add.vmfb"));
    }

    private static float[] values(float last) {
        float[] values = new float[SIZE];
        values[SIZE - 1] = last;
        return values;
    }

    private static void callWithInputsOnTheDevice(IreeRuntime runtime, Program program) {
        try (Tensor a = runtime.upload(Tensor.of(values(1), SIZE));
                Tensor b = runtime.upload(Tensor.of(values(2), SIZE));
                Results results = program.function("add").invoke(a, b)) {
            assertThat(results.tensor(0).toFloatArray()).endsWith(3);
        }
    }

    private static void call(Program program, int number) {
        try (Results results =
                program.function("add").invoke(Tensor.of(values(number), SIZE), Tensor.of(values(1), SIZE))) {
            assertThat(results.tensor(0).toFloatArray()).endsWith(number + 1f);
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {1.1, 1.5, 2})
    void inputsOnTheDeviceSayLittleOfCallsWithCopiedInputs(double budget) throws Exception {
        Queue<Throwable> wrong = new ConcurrentLinkedQueue<>();
        try (IreeRuntime runtime =
                IreeRuntime.builder().memoryLimit((long) (budget * NEED)).build()) {
            List<Program> programs = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                programs.add(load(runtime));
                callWithInputsOnTheDevice(runtime, programs.getLast());
            }
            CyclicBarrier start = new CyclicBarrier(CALLERS);
            List<Thread> callers = new ArrayList<>();
            for (Program program : programs) {
                callers.add(Thread.ofPlatform().start(() -> {
                    try {
                        start.await();
                        for (int call = 0; call < CALLS && wrong.isEmpty(); call++) {
                            call(program, call);
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
        }
    }

    /**
     * Memory kept by the host on the device is not part of a call's need. Each call would wait for the host, longer
     * than this test may take.
     */
    @Test
    @Timeout(60)
    void anInputStayingOnTheDeviceIsNotCountedTwice() {
        DeviceOptions options = DeviceOptions.builder()
                .memoryLimit((long) (1.05 * NEED))
                .memoryWait(Duration.ofMinutes(20))
                .memoryHostWait(Duration.ofMinutes(20))
                .build();
        try (IreeRuntime runtime = IreeRuntime.builder()
                        .device("local", "local://", options)
                        .build();
                Program program = load(runtime)) {
            call(program, 1);
            try (Tensor kept = runtime.upload(Tensor.of(values(5), SIZE))) {
                for (int i = 0; i < 10; i++) {
                    try (Results results = program.function("add").invoke(kept, Tensor.of(values(i), SIZE))) {
                        assertThat(results.tensor(0).toFloatArray()).endsWith(5 + i);
                    }
                }
            }
        }
    }

    /** Nobody knows the need of a call that never succeeds; and each would wait for the host. */
    @Test
    @Timeout(60)
    void failingCallsDoNotWaitForMemoryKeptByTheHost() {
        DeviceOptions options = DeviceOptions.builder()
                .memoryLimit(2 * NEED)
                .memoryWait(Duration.ofMinutes(20))
                .memoryHostWait(Duration.ofMinutes(20))
                .build();
        VmModule bad = NativeModule.builder("bad", 1, Object::new)
                .function("fail", "0r_v", (_, call) -> {
                    throw IreeException.of(StatusCode.DATA_LOSS, "as always");
                })
                .build();
        try (IreeRuntime runtime = IreeRuntime.builder()
                        .device("local", "local://", options)
                        .build();
                Program program =
                        runtime.load(ProgramOptions.builder().module(bad).build());
                Tensor kept = runtime.upload(Tensor.of(values(1), SIZE))) {
            for (int i = 0; i < 10; i++) {
                assertThatExceptionOfType(IreeException.class)
                        .isThrownBy(() -> program.function("fail").invoke(Tensor.of(values(1), SIZE)))
                        .withMessageContaining("as always");
            }
            assertThat(kept.isClosed()).isFalse();
        }
    }
}
