package io.github.iree4j.nativeaccess;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How much does a call of a compiled kernel from Java cost, and how much does each further workgroup of the same call
 * cost?
 *
 * <p>The kernel adds two floats; the source is {@code native-shim/test/kernels/basic.c}, built by {@code
 * bin/cmake-native release}. Run from the root of the repository.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Thread)
public class KernelCallBenchmark {
    private static final int WORKGROUPS = 1000;

    private final DispatchState state = new DispatchState();
    private final MemorySegment data = Arena.ofAuto().allocate(3 * 4096, 64);
    private final NativeError error = new NativeError();
    private final CpuLibrary library = open();

    /** For JMH. */
    public KernelCallBenchmark() {}

    private static CpuLibrary open() {
        Path kernel = Path.of("native-shim/build/release/test/kernels/basic.so");
        try {
            return CpuLibrary.load("basic", MemorySegment.ofArray(Files.readAllBytes(kernel)), new int[1]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Prepares the state for the benchmarks not measuring the preparation. */
    @Setup
    public void prepare() {
        fillIn();
    }

    private void fillIn() {
        state.begin(0, 3).workgroupCount(WORKGROUPS, 1, 1);
        for (int i = 0; i < 3; i++) {
            state.binding(i, data, i * 4096L, 4 * WORKGROUPS);
        }
    }

    /** Closes it. */
    @TearDown
    public void close() {
        library.close();
    }

    /** A native call without a workgroup. */
    @Benchmark
    public void emptyRange() {
        library.dispatch(0, state, 0, 0, MemorySegment.NULL, 0, error);
    }

    /** A native call of a single workgroup. */
    @Benchmark
    public void oneWorkgroup() {
        library.dispatch(0, state, 0, 1, MemorySegment.NULL, 0, error);
    }

    /** A workgroup of a call of a thousand. */
    @Benchmark
    @OperationsPerInvocation(WORKGROUPS)
    public void oneOfAThousandWorkgroups() {
        library.dispatch(0, state, 0, WORKGROUPS, MemorySegment.NULL, 0, error);
    }

    /** Writing the state of a dispatch with three bindings. */
    @Benchmark
    public void fillInState() {
        fillIn();
    }
}
