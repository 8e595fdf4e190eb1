package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.iree4j.nativeaccess.NativeThreads;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.task.DrainResult;
import io.github.iree4j.task.ProcessExecutor;
import io.github.iree4j.task.ProcessOptions;
import io.github.iree4j.task.TaskProcess;
import io.github.iree4j.task.Topology;
import io.github.iree4j.task.WorkerContext;
import io.github.iree4j.vm.NativeModule;
import java.util.BitSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The workers of a runtime: the number, places, and end of workers on close. */
@Timeout(300)
class RuntimeWorkersTest {
    /** Runs an action on a worker. */
    private static <T> T onWorker(IreeRuntime runtime, Supplier<T> body) throws Exception {
        CompletableFuture<T> result = new CompletableFuture<>();
        runtime.monitor().workers().executor().submit(new TaskProcess(ProcessOptions.named("test")) {
            @Override
            protected DrainResult drain(WorkerContext worker) {
                result.complete(body.get());
                return DrainResult.COMPLETED;
            }
        });
        return result.get();
    }

    @Test
    void thereIsAWorkerPerGroupUnlessANumberIsGiven() {
        try (IreeRuntime runtime = IreeRuntime.create()) {
            assertThat(runtime.monitor().workers().executor().workers())
                    .isEqualTo(runtime.monitor().workers().topology().groups().size())
                    .isEqualTo(Topology.of("auto").groups().size());
        }
        try (IreeRuntime runtime = IreeRuntime.builder().taskWorkers(7).build()) {
            assertThat(runtime.monitor().workers().executor().workers()).isEqualTo(7);
            assertThat(runtime.monitor().workers().topology().groups()).hasSizeGreaterThanOrEqualTo(7);
        }
        try (IreeRuntime runtime = IreeRuntime.builder()
                .topology(Topology.ofWorkers(3))
                .taskWorkers(2)
                .build()) {
            assertThat(runtime.monitor().workers().executor().workers()).isEqualTo(2);
            assertThat(runtime.monitor().workers().topology()).isEqualTo(Topology.ofWorkers(3));
        }
    }

    @Test
    void runtimeWithoutWorkForWorkersHasNoThreads() {
        try (IreeRuntime runtime = IreeRuntime.builder().taskWorkers(4).build()) {
            try (Program program = runtime.load(Fixtures.file("3.11.0/cpu/add.vmfb"))) {
                assertThat(program.functions()).isNotEmpty();
                assertThat(workerThreads(runtime)).isZero();
                assertThat(runtime.monitor().workers().executor().sleepingWorkers())
                        .isEqualTo(4);
            }
        }
    }

    /** The name is in the description. */
    private static long workerThreads(IreeRuntime runtime) {
        String prefix = runtime.monitor().workers().executor().toString().split("'")[1] + "-worker-";
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(prefix))
                .count();
    }

    @Test
    void unsuitableNumbersAreRefused() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> IreeRuntime.builder().taskWorkers(257).build())
                .withMessage("'workers' is 257 and must be within [0, 256], the limit")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> IreeRuntime.builder()
                        .topology(Topology.ofWorkers(2))
                        .taskWorkers(3)
                        .build())
                .withMessageContaining("'workers' is 3 and must be within [0, 2], the groups of the topology");
    }

    @Test
    void workersAreBoundToTheirProcessorsOnRequest() throws Exception {
        int processor = BitSet.valueOf(NativeThreads.affinity()).nextSetBit(0);
        BitSet one = new BitSet();
        one.set(processor);
        Topology topology = Topology.of("cpus=" + processor);
        long[] before = NativeThreads.affinity();
        try (IreeRuntime runtime =
                IreeRuntime.builder().topology(topology).taskAffinity(true).build()) {
            assertThat(onWorker(runtime, NativeThreads::affinity)).containsExactly(one.toLongArray());
        }
        try (IreeRuntime runtime = IreeRuntime.builder().topology(topology).build()) {
            assertThat(onWorker(runtime, NativeThreads::affinity)).containsExactly(before);
        }
        assertThat(NativeThreads.affinity()).as("of this thread").containsExactly(before);
    }

    @Test
    void workersWithoutTheirProcessorsWorkAnywhere() throws Exception {
        long[] before = NativeThreads.affinity();
        try (IreeRuntime runtime = IreeRuntime.builder()
                .topology(Topology.of("cpus=8191; cpus=any"))
                .taskAffinity(true)
                .build()) {
            for (int i = 0; i < 10; i++) {
                assertThat(onWorker(runtime, NativeThreads::affinity)).containsExactly(before);
            }
        }
    }

    @Test
    void workersMayStartCallsWithoutWaiting() throws Exception {
        try (IreeRuntime runtime = IreeRuntime.builder().taskWorkers(1).build();
                Program program = runtime.load(ProgramOptions.builder()
                        .module(NativeModule.builder("m", 0, Object::new)
                                .function("f", "0v_v", (_, _) -> {})
                                .build())
                        .build())) {
            ProgramFunction function = program.function("f");
            Throwable refused = onWorker(runtime, () -> catchThrowable(function::invoke));
            assertThat(refused)
                    .isInstanceOf(IreeException.class)
                    .hasMessageContaining("'m.f' was called by a worker, which must not wait; use invokeAsync");
            onWorker(runtime, function::invokeAsync).get().close();
            function.invoke().close();
        }
    }

    @Test
    void closingEndsTheThreadsAlsoFromAWorker() throws Exception {
        IreeRuntime runtime = IreeRuntime.builder().taskWorkers(2).build();
        ProcessExecutor executor = runtime.monitor().workers().executor();
        Thread worker = onWorker(runtime, () -> {
            runtime.close();
            return Thread.currentThread();
        });
        worker.join();
        assertThat(worker.isDaemon()).isTrue();
        assertThat(worker.getName()).matches("iree4j(-[0-9]+)?-worker-[01]");
        while (executor.liveProcesses() > 0) {
            Thread.onSpinWait();
        }
        executor.close(); // already closed, or in a wait for the close
    }
}
