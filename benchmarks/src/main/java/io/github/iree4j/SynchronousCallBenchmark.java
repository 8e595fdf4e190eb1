package io.github.iree4j;

import io.github.iree4j.flight.FlightRecorder;
import io.github.iree4j.flight.RecorderOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
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
 * How much does a synchronous call of a trivial compiled function cost, from Java values to Java values?
 *
 * <p>{@code add} adds two vectors of four floats: a command buffer with a single dispatch, an allocation, two fences
 * and a buffer view per call. The module is in {@code fixtures/}, relative to the root of the repository; {@code -p
 * module=FILE} selects another. Peer: {@code iree-benchmark-module --device=local-sync --function=add} with the same
 * inputs.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Thread)
public class SynchronousCallBenchmark {
    /** File of the module with {@code add}. */
    @Param("fixtures/modules/3.11.0/cpu/add.vmfb")
    public String module = "";

    /** Whether a flight recorder is open. */
    @Param("off")
    public String recorder = "off";

    private @Nullable FlightRecorder open;
    private final float[] a = {1, 2, 3, 4};
    private final float[] b = {10, 20, 30, 40};
    private final IreeRuntime runtime = IreeRuntime.create();
    private final Tensor left = Tensor.of(a, 4);
    private final Tensor right = Tensor.of(b, 4);
    private final Tensor uploadedLeft = runtime.upload(left);
    private final Tensor uploadedRight = runtime.upload(right);
    private Program program;
    private ProgramFunction add;
    private Program limited;
    private ProgramFunction limitedAdd;
    private Program mapped;
    private ProgramFunction mappedAdd;

    /** For JMH. */
    @SuppressWarnings("NullAway.Init") // JMH calls load()
    public SynchronousCallBenchmark() {}

    /**
     * Loads the module, and opens the recorder.
     *
     * @throws IOException never: the recorder has no file
     */
    @Setup
    public void load() throws IOException {
        open = recorder.equals("on")
                ? FlightRecorder.open(runtime.device().schedulingDomain(), RecorderOptions.DEFAULTS)
                : null;
        program = runtime.load(Path.of(module));
        add = program.function("add");
        limited = program.newInstance();
        limited.setTimeout(Duration.ofMinutes(1));
        limitedAdd = limited.function("add");
        mapped = runtime.load(
                ProgramOptions.builder().mappedModule(Path.of(module)).build());
        mappedAdd = mapped.function("add");
    }

    /** Frees everything. */
    @TearDown
    public void free() {
        if (open != null) {
            open.close();
        }
        mapped.close();
        limited.close();
        program.close();
        left.close();
        right.close();
        uploadedLeft.close();
        uploadedRight.close();
        runtime.close();
    }

    /**
     * Calls with preallocated tensors; each call copies the elements to the device.
     *
     * @return an element, so that the call is not optimised away
     */
    @Benchmark
    public long tensors() {
        try (Results results = add.invoke(left, right)) {
            return results.tensor(0).byteSize();
        }
    }

    /**
     * Calls with tensors already in device memory, as the peer does.
     *
     * @return an element, so that the call is not optimised away
     */
    @Benchmark
    public long uploadedTensors() {
        try (Results results = add.invoke(uploadedLeft, uploadedRight)) {
            return results.tensor(0).byteSize();
        }
    }

    /**
     * The same with a time limit, as services have: the calling thread has a deadline during the call.
     *
     * @return an element, so that the call is not optimised away
     */
    @Benchmark
    public long limitedTime() {
        try (Results results = limitedAdd.invoke(uploadedLeft, uploadedRight)) {
            return results.tensor(0).byteSize();
        }
    }

    /**
     * The same with a program using a file in place; the file is checked before and after the call.
     *
     * @return an element, so that the call is not optimised away
     */
    @Benchmark
    public long fileInPlace() {
        try (Results results = mappedAdd.invoke(uploadedLeft, uploadedRight)) {
            return results.tensor(0).byteSize();
        }
    }

    /**
     * Calls with Java arrays and reads an array back.
     *
     * @return the sums
     */
    @Benchmark
    public float[] arrays() {
        try (Results results = add.invoke(a, b)) {
            return results.tensor(0).toFloatArray();
        }
    }
}
