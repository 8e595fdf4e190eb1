package io.github.iree4j.tools;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;

/** Repeats calls for long enough to measure, like Google Benchmark. */
final class BenchmarkLoop {
    private static final long MAX_ITERATIONS = 1_000_000_000;
    private static final double NANOS = 1e-9;

    private final LongSupplier wallNanos;
    private final LongSupplier cpuNanos;

    /** Length of a run: a minimum duration or a number of calls. */
    record Length(double seconds, long iterations) {
        /** Reads {@code 0.5}, {@code 0.5s} or {@code 100x}. */
        static Length parse(String text) {
            try {
                if (text.endsWith("x")) {
                    long iterations = Long.parseLong(text.substring(0, text.length() - 1));
                    if (iterations > 0 && iterations <= MAX_ITERATIONS) {
                        return new Length(0, iterations);
                    }
                } else {
                    double seconds =
                            Double.parseDouble(text.endsWith("s") ? text.substring(0, text.length() - 1) : text);
                    if (seconds >= 0 && Double.isFinite(seconds)) {
                        return new Length(seconds, 0);
                    }
                }
            } catch (NumberFormatException e) {
                // reported below
            }
            throw new IllegalArgumentException(
                    "needs a time such as 0.5s or a number of calls such as 100x, but is '" + text + "'");
        }
    }

    /** Makes at least a number of calls; returns the number made. */
    @FunctionalInterface
    interface Body {
        long call(long atLeast);
    }

    /** Measures wall time and the CPU time of the process. */
    BenchmarkLoop() {
        this(System::nanoTime, processClock());
    }

    BenchmarkLoop(LongSupplier wallNanos, LongSupplier cpuNanos) {
        this.wallNanos = wallNanos;
        this.cpuNanos = cpuNanos;
    }

    private static LongSupplier processClock() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system
                ? system::getProcessCpuTime
                : System::nanoTime;
    }

    /** Calls for some seconds without measuring. */
    void warmUp(double seconds, Body body) {
        long start = wallNanos.getAsLong();
        while ((wallNanos.getAsLong() - start) * NANOS < seconds) {
            body.call(1);
        }
    }

    /** Makes a run of the requested length; shorter runs are repeated with more calls and not counted. */
    Measurement measure(int repetition, Length length, Body body) {
        long wanted = length.iterations == 0 ? 1 : length.iterations;
        while (true) {
            long cpu = cpuNanos.getAsLong();
            long start = wallNanos.getAsLong();
            long iterations = body.call(wanted);
            double real = Math.max(1, wallNanos.getAsLong() - start) * NANOS;
            double used = (cpuNanos.getAsLong() - cpu) * NANOS;
            if (length.iterations != 0 || real >= length.seconds || iterations >= MAX_ITERATIONS) {
                return Measurement.ofRun(repetition, iterations, real, used);
            }
            // A run of at least a tenth of the duration predicts well how many calls are needed.
            double factor = real / length.seconds > 0.1 ? length.seconds * 1.4 / real : 10;
            wanted = (long) Math.min(MAX_ITERATIONS, Math.max(factor * iterations, iterations + 1.0));
        }
    }
}
