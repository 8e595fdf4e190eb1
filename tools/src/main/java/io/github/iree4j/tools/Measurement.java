package io.github.iree4j.tools;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Times of a benchmark run, or a statistic over several runs.
 *
 * @param repetition the number of the run, from 0; -1 for a statistic
 * @param statistic {@code mean}, {@code median}, {@code stddev} or {@code cv}; empty for a run
 * @param iterations calls made; for a statistic the number of runs
 * @param realSeconds wall time of a call; for {@code cv} a ratio
 * @param cpuSeconds time of all processors for a call; for {@code cv} a ratio
 * @param itemsPerSecond calls in a second of wall time; for {@code cv} a ratio
 */
record Measurement(
        int repetition,
        String statistic,
        long iterations,
        double realSeconds,
        double cpuSeconds,
        double itemsPerSecond) {

    static Measurement ofRun(int repetition, long iterations, double real, double cpu) {
        return new Measurement(repetition, "", iterations, real / iterations, cpu / iterations, iterations / real);
    }

    boolean isRatio() {
        return statistic.equals("cv");
    }

    /** Mean, median, standard deviation (of a sample) and coefficient of variation of at least two runs. */
    static List<Measurement> statistics(List<Measurement> runs) {
        return List.of(
                over(runs, "mean", Measurement::mean),
                over(runs, "median", Measurement::median),
                over(runs, "stddev", Measurement::deviation),
                over(runs, "cv", values -> {
                    double mean = mean(values);
                    return mean == 0 ? 0 : deviation(values) / mean;
                }));
    }

    private static Measurement over(List<Measurement> runs, String name, ToDoubleFunction<double[]> statistic) {
        return new Measurement(
                -1,
                name,
                runs.size(),
                statistic.applyAsDouble(
                        runs.stream().mapToDouble(Measurement::realSeconds).toArray()),
                statistic.applyAsDouble(
                        runs.stream().mapToDouble(Measurement::cpuSeconds).toArray()),
                statistic.applyAsDouble(
                        runs.stream().mapToDouble(Measurement::itemsPerSecond).toArray()));
    }

    private static double mean(double[] values) {
        double sum = 0;
        for (double value : values) {
            sum += value;
        }
        return sum / values.length;
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        java.util.Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    private static double deviation(double[] values) {
        double mean = mean(values);
        double sum = 0;
        for (double value : values) {
            sum += (value - mean) * (value - mean);
        }
        return Math.sqrt(sum / (values.length - 1));
    }
}
