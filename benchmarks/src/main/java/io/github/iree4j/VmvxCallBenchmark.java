package io.github.iree4j;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How much does a synchronous call of a program with bytecode kernels cost?
 *
 * <p>{@code simple_mul} multiplies two vectors of a hundred floats. The module is not part of this repository: name the
 * file with {@code -p module=FILE}. Peer: {@code iree-benchmark-module --device=local-sync --function=simple_mul} with
 * the same inputs.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Thread)
public class VmvxCallBenchmark {
    private static final int SIZE = 100;

    /** File of the module with {@code simple_mul}. */
    @Param("fixtures/modules/3.11.0/vmvx/simple_mul.vmfb")
    public String module = "";

    /** Interpreted, or compiled once hot. */
    @Param({"off", "background"})
    public String compilation = "";

    private IreeRuntime runtime;
    private Tensor left;
    private Tensor right;
    private Program program;
    private ProgramFunction multiply;

    /** For JMH. */
    @SuppressWarnings("NullAway.Init") // JMH calls load()
    public VmvxCallBenchmark() {}

    /** Loads the module. */
    @Setup
    public void load() {
        System.setProperty("iree4j.vm.compile", compilation);
        float[] a = new float[SIZE];
        Arrays.fill(a, 2);
        runtime = IreeRuntime.create();
        left = Tensor.of(a, SIZE);
        right = Tensor.of(a, SIZE);
        program = runtime.load(Path.of(module));
        multiply = program.function("simple_mul");
    }

    /** Frees everything. */
    @TearDown
    public void free() {
        program.close();
        left.close();
        right.close();
        runtime.close();
    }

    /**
     * Calls with preallocated tensors.
     *
     * @return the size of the result, so that the call is not optimised away
     */
    @Benchmark
    public long tensors() {
        try (Results results = multiply.invoke(left, right)) {
            return results.tensor(0).byteSize();
        }
    }
}
