package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.task.ProcessExecutor;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls of programs by waiting threads, on a device with sleeping workers. */
@Timeout(60)
class CallerWorkTest {
    private static final int CALLS = 20;
    private static final int ROUNDS = 50;

    private static List<Tensor> zeros(ProgramFunction function) {
        return function.arguments().stream()
                .map(each -> Tensor.zeros(
                        each.elementType().orElseThrow(),
                        each.shape().orElseThrow().stream()
                                .mapToLong(Long::longValue)
                                .toArray()))
                .toList();
    }

    private static void call(ProgramFunction function) {
        for (int i = 0; i < CALLS; i++) {
            List<Tensor> inputs = zeros(function);
            try (Results results = function.invoke(inputs.toArray())) {
                assertThat(results.asList()).isNotEmpty();
            }
            inputs.forEach(Tensor::close);
        }
    }

    /** Calls until a round wakes no worker: in other rounds a duration may be unknown, or have come as a surprise. */
    private static void assertWakesNobody(
            String module, ProcessExecutor workers, CpuOptions options, Consumer<Runnable> thread) {
        try (workers;
                IreeRuntime runtime = IreeRuntime.builder()
                        .device(
                                "cpu",
                                "local",
                                DeviceOptions.builder()
                                        .with(options.executor(workers))
                                        .build())
                        .build();
                Program program = runtime.load(Fixtures.file("3.11.0/" + module + ".vmfb"))) {
            ProgramFunction function = program.functions().getFirst();
            int awake = 1;
            for (int round = 0; awake > 0 && round < ROUNDS; round++) {
                while (workers.sleepingWorkers() < workers.workers()) {
                    Thread.onSpinWait();
                }
                workers.takeMostAwake();
                thread.accept(() -> call(function));
                awake = workers.takeMostAwake();
            }
            assertThat(awake).isZero();
        }
    }

    private static void onVirtualThread(Runnable calls) {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            threads.submit(calls).get();
        } catch (InterruptedException | ExecutionException e) {
            throw new AssertionError(e);
        }
    }

    private static ProcessExecutor workers(int count, Duration wakeCost) {
        return ProcessExecutor.builder(count).wakeCost(wakeCost).build();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"cpu/mlp", "cpu/while_tensor", "cpu-async/while_tensor", "cpu/matmul_f32", "cpu-async/matmul_f32"
            })
    void aThreadWaitingForACallWakesNobodyForSmallWork(String module) {
        assertWakesNobody(module, workers(2, Duration.ofNanos(500_000)), CpuOptions.DEFAULTS, Runnable::run);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"cpu/mlp", "cpu/while_tensor", "cpu-async/while_tensor", "cpu/matmul_f32", "cpu-async/matmul_f32"
            })
    void aVirtualThreadWaitingForACallWakesNobodyForSmallWork(String module) {
        assertWakesNobody(
                module, workers(2, Duration.ofNanos(500_000)), CpuOptions.DEFAULTS, CallerWorkTest::onVirtualThread);
    }

    /** The work of such a call, too long to be done at once, is left to the thread; its end makes the release of transient memory due. */
    @Test
    void aThreadThatHasDoneTheWorkOfItsCallWakesNobodyForTheRest() {
        assertWakesNobody(
                "cpu/mlp",
                workers(1, Duration.ofNanos(300)),
                CpuOptions.DEFAULTS.inlineWork(Duration.ofNanos(200)),
                Runnable::run);
    }
}
