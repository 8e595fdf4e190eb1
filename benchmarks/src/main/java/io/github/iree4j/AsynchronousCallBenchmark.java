package io.github.iree4j;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.vm.asm.VmAssembler;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How much does a call of a trivial function by workers cost, with the wait for the call? And how long does a call
 * waiting for a fence take to resume?
 *
 * <p>{@code add} as in {@link SynchronousCallBenchmark}. Peer: {@code iree-benchmark-module --device=local-task
 * --function=add} with the same inputs.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Thread)
public class AsynchronousCallBenchmark {
    private static final int MANY = 1000;

    private static final String WAITER = """
            vm.module @waiter version 0
            vm.type !hal.fence
            vm.import @hal.fence.await cconv "0iICrD_i"
            vm.export @wait
            vm.func @wait(%r0: !hal.fence) -> (i32) {
            ^bb0:
              %i1 = vm.const.i32 -1
              %i2:3 = vm.const.i64.zero
              %i4 = vm.call.variadic @hal.fence.await segments[65535, 65535, 1](%i1, %i2:3, %r0)
              vm.discard.refs %r0
              vm.return %i4
            }
            """;

    /** File of the module with {@code add}. */
    @Param("fixtures/modules/3.11.0/cpu/add.vmfb")
    public String module = "";

    /** Workers of the runtime. */
    @Param("1")
    public int workers;

    private IreeRuntime runtime;
    private Tensor left;
    private Tensor right;
    private Program program;
    private Program waiter;
    private ProgramFunction add;
    private ProgramFunction wait;
    private Timeline timeline;
    private long point;

    /** For JMH. */
    @SuppressWarnings("NullAway.Init") // JMH calls load()
    public AsynchronousCallBenchmark() {}

    /** Loads the modules. */
    @Setup
    public void load() {
        runtime = IreeRuntime.builder().taskWorkers(workers).build();
        left = Tensor.of(new float[] {1, 2, 3, 4}, 4);
        right = Tensor.of(new float[] {10, 20, 30, 40}, 4);
        program = runtime.load(Path.of(module));
        add = program.function("add");
        waiter = runtime.load(ProgramOptions.builder()
                .module("waiter", VmAssembler.assemble(WAITER))
                .build());
        wait = waiter.function("wait");
        timeline = runtime.createTimeline();
    }

    /** Frees everything. */
    @TearDown
    public void free() {
        timeline.close();
        program.close();
        waiter.close();
        left.close();
        right.close();
        runtime.close();
    }

    /**
     * A single call at a time.
     *
     * @return a size, so that the call is not optimised away
     * @throws ExecutionException never
     * @throws InterruptedException never
     */
    @Benchmark
    public long oneAtATime() throws ExecutionException, InterruptedException {
        try (Results results = add.invokeAsync(left, right).get()) {
            return results.tensor(0).byteSize();
        }
    }

    /**
     * Many calls, started before the wait for the first; the time is per call.
     *
     * @throws ExecutionException never
     * @throws InterruptedException never
     */
    @Benchmark
    @OperationsPerInvocation(MANY)
    public void oneOfMany() throws ExecutionException, InterruptedException {
        CompletableFuture<?>[] all = new CompletableFuture<?>[MANY];
        for (int i = 0; i < MANY; i++) {
            all[i] = add.invokeAsync(left, right);
        }
        for (CompletableFuture<?> each : all) {
            ((Results) each.get()).close();
        }
    }

    /**
     * A call waiting for a fence: starts the call, signals the fence, waits for the call.
     *
     * @return the result of the call
     * @throws ExecutionException never
     * @throws InterruptedException never
     */
    @Benchmark
    public int afterAFence() throws ExecutionException, InterruptedException {
        try (Fence fence = timeline.at(++point)) {
            CompletableFuture<Results> future = wait.invokeAsync(fence);
            fence.signal();
            try (Results results = future.get()) {
                return results.intValue(0);
            }
        }
    }
}
