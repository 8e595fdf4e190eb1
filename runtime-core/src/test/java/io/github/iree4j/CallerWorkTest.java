package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.task.ProcessExecutor;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Calls of programs by waiting threads, on a device with sleeping workers. */
@Timeout(60)
class CallerWorkTest {
    private static final int CALLS = 20;
    private static final int ROUNDS = 50;

    /** Of a worker just falling asleep; a worker woken by each call takes ten times as much. */
    private static final long UNNOTICED_NANOS = 200_000;

    /** Processor time of the workers so far. */
    private static long workerNanos(ProcessExecutor workers) {
        while (workers.sleepingWorkers() < workers.workers()) {
            Thread.onSpinWait();
        }
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("sleeping-worker-"))
                .mapToLong(thread -> ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.threadId()))
                .sum();
    }

    private static List<Tensor> zeros(ProgramFunction function) {
        return function.arguments().stream()
                .map(each -> Tensor.zeros(
                        each.elementType().orElseThrow(),
                        each.shape().orElseThrow().stream()
                                .mapToLong(Long::longValue)
                                .toArray()))
                .toList();
    }

    private static void callOnThread(ExecutorService threads, Callable<Void> calls) throws Exception {
        try (threads) {
            threads.submit(calls).get();
        }
    }

    @ParameterizedTest
    @CsvSource({"cpu/mlp", "cpu/while_tensor", "cpu-async/while_tensor", "cpu/matmul_f32", "cpu-async/matmul_f32"})
    void aThreadWaitingForACallWakesNobodyForSmallWork(String name) throws Exception {
        try (ProcessExecutor workers = ProcessExecutor.builder(2)
                        .name("sleeping")
                        .wakeCost(Duration.ofNanos(500_000))
                        .build();
                IreeRuntime runtime = IreeRuntime.builder()
                        .device(
                                "cpu",
                                "local",
                                DeviceOptions.builder()
                                        .with(CpuOptions.DEFAULTS.executor(workers))
                                        .build())
                        .build();
                Program program = runtime.load(Fixtures.file("3.11.0/" + name + ".vmfb"))) {
            ProgramFunction function = program.functions().getFirst();
            Callable<Void> calls = () -> {
                for (int i = 0; i < CALLS; i++) {
                    List<Tensor> inputs = zeros(function);
                    try (Results results = function.invoke(inputs.toArray())) {
                        assertThat(results.asList()).isNotEmpty();
                    }
                    inputs.forEach(Tensor::close);
                }
                return null;
            };
            calls.call(); // its durations are known now
            long before = workerNanos(workers);
            callOnThread(Executors.newSingleThreadExecutor(), calls);
            callOnThread(Executors.newVirtualThreadPerTaskExecutor(), calls);
            assertThat(workerNanos(workers) - before).isLessThan(UNNOTICED_NANOS);
        }
    }

    /**
     * The work of such a call, too long to be done at once, is left to the thread; its end makes the release of
     * transient memory due. A round counts in which no duration came as a surprise.
     */
    @Test
    void aThreadThatHasDoneTheWorkOfItsCallWakesNobodyForTheRest() {
        try (ProcessExecutor workers = ProcessExecutor.builder(1)
                        .wakeCost(Duration.ofNanos(300))
                        .build();
                IreeRuntime runtime = IreeRuntime.builder()
                        .device(
                                "cpu",
                                "local",
                                DeviceOptions.builder()
                                        .with(CpuOptions.DEFAULTS
                                                .executor(workers)
                                                .inlineWork(Duration.ofNanos(200)))
                                        .build())
                        .build();
                Program program = runtime.load(Fixtures.file("3.11.0/cpu/mlp.vmfb"))) {
            ProgramFunction function = program.functions().getFirst();
            int awake = 1;
            for (int round = 0; awake > 0 && round < ROUNDS; round++) {
                while (workers.sleepingWorkers() == 0) {
                    Thread.onSpinWait();
                }
                workers.takeMostAwake();
                for (int i = 0; i < CALLS; i++) {
                    List<Tensor> inputs = zeros(function);
                    function.invoke(inputs.toArray()).close();
                    inputs.forEach(Tensor::close);
                }
                awake = workers.takeMostAwake();
            }
            assertThat(awake).isZero();
        }
    }
}
