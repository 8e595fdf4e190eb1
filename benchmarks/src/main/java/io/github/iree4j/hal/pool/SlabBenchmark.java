package io.github.iree4j.hal.pool;

import io.github.iree4j.nativeaccess.SlabMemory;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How much does allocating a slab from the system, with all pages, and freeing the slab cost: as Java allocates, and on
 * huge pages?
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@State(Scope.Thread)
public class SlabBenchmark {
    /** MiB of the slab. */
    @Param({"2", "64", "600"})
    public long size;

    private final HostSlabProvider java = new HostSlabProvider();
    private final HostSlabProvider large = new HostSlabProvider(SlabMemory::allocate);

    /** For JMH. */
    public SlabBenchmark() {}

    private void takeAndGiveBack(HostSlabProvider provider) {
        provider.release(provider.acquire(size << 20, HostSlabProvider.ALIGNMENT));
    }

    /** Zeroed by the JDK. */
    @Benchmark
    public void allocatedByJava() {
        takeAndGiveBack(java);
    }

    /** Mapped by the native library. */
    @Benchmark
    public void onLargePages() {
        takeAndGiveBack(large);
    }
}
