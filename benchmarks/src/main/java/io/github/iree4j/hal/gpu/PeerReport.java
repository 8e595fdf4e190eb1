package io.github.iree4j.hal.gpu;

import java.util.Arrays;
import java.util.Locale;

/** Takes times and prints a line of JSON for each measurement, as {@code gpu_peer.c} does. */
final class PeerReport {
    /** A measured action: returns the time of the end of submission, once all is done. */
    @FunctionalInterface
    interface Action {
        long run();
    }

    private static final int SAMPLES = 20_000;
    private static final double WARM_UP = 0.5; // of the time, for the compiler

    private final String driver;
    private final double seconds;
    private final long[] enqueued = new long[SAMPLES];
    private final long[] completed = new long[SAMPLES];

    PeerReport(String driver, double seconds) {
        this.driver = driver;
        this.seconds = seconds;
    }

    /** Measures an action in nanoseconds per operation: until submitted, and until done. */
    void times(String name, int operations, Action action) {
        int count = sample(action);
        line(name + ".enqueue", enqueued, count, operations);
        line(name + ".complete", completed, count, operations);
    }

    /** Measures an action until done. */
    void time(String name, Action action) {
        line(name, completed, sample(action), 1);
    }

    /** Measures an action in bytes per nanosecond. */
    void rate(String name, long bytes, Action action) {
        int count = sample(action);
        Arrays.sort(completed, 0, count);
        print(name, "GB/s", (double) bytes / completed[count / 2], (double) bytes / completed[0], count);
    }

    private int sample(Action action) {
        long end = System.nanoTime() + (long) (seconds * WARM_UP * 1e9);
        do {
            action.run();
        } while (System.nanoTime() - end < 0);
        int count = 0;
        end = System.nanoTime() + (long) (seconds * 1e9);
        do {
            long begin = System.nanoTime();
            long submitted = action.run();
            completed[count] = System.nanoTime() - begin;
            enqueued[count++] = submitted - begin;
        } while (count < SAMPLES && (count < 5 || System.nanoTime() - end < 0));
        return count;
    }

    private void line(String name, long[] times, int count, int operations) {
        Arrays.sort(times, 0, count);
        print(name, "ns", (double) times[count / 2] / operations, (double) times[0] / operations, count);
    }

    private void print(String name, String unit, double median, double best, int count) {
        System.out.printf(
                Locale.ROOT,
                "{\"side\":\"java\",\"driver\":\"%s\",\"name\":\"%s\",\"unit\":\"%s\",\"median\":%.3f,\"best\":%.3f,\"samples\":%d}%n",
                driver,
                name,
                unit,
                median,
                best,
                count);
        System.out.flush();
    }

    /** Prints a count. */
    void count(String name, long value) {
        System.out.printf(
                "{\"side\":\"java\",\"driver\":\"%s\",\"name\":\"%s\",\"unit\":\"count\",\"median\":%d}%n",
                driver, name, value);
    }

    /** Prints the name and the queues of the device. */
    void device(String name, int queues) {
        System.out.printf(
                "{\"side\":\"java\",\"driver\":\"%s\",\"device\":\"%s\",\"queues\":%d}%n",
                driver, name.replace("\"", ""), queues);
    }

    /** Prints why a measurement was skipped. */
    void skipped(String name, Exception cause) {
        System.out.printf(
                "{\"side\":\"java\",\"driver\":\"%s\",\"name\":\"%s\",\"skipped\":\"%s\"}%n",
                driver, name, String.valueOf(cause.getMessage()).replaceAll("[\"\\\\\\s]+", " "));
    }
}
