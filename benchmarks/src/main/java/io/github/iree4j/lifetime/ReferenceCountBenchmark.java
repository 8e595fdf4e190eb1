package io.github.iree4j.lifetime;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** How much does retaining and releasing a reference cost, as done by the VM for every copied ref? */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Thread)
public class ReferenceCountBenchmark {
    private static final class Held extends Resource {
        @Override
        protected void destroy() {}
    }

    private final Held held = new Held();

    /** For JMH. */
    public ReferenceCountBenchmark() {}

    /** A single pair, uncontended. */
    @Benchmark
    public void retainAndRelease() {
        held.retain();
        held.release();
    }
}
