package io.github.iree4j.sample.hostile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The share of the machine's processors left by all other processes to this process and the sample, since the creation.
 * Times are judged by the share: where others take three quarters, everything takes four times as long.
 */
final class Share {
    private static final long NANOS_PER_TICK = TimeUnit.MILLISECONDS.toNanos(10);
    private static final int IDLE = 3; // columns of /proc/stat, the next waits for disks
    private static final int COLUMNS = 8;

    private final ProcessHandle sample;
    private final Moment before;

    /** Time of all processors, and the time used, by all and by us; in ticks. */
    private record Moment(long all, long used, long ours) {}

    Share(ProcessHandle sample) throws IOException {
        this.sample = sample;
        this.before = now();
    }

    private Moment now() throws IOException {
        String[] columns = Files.readAllLines(Path.of("/proc/stat")).getFirst().split(" +");
        long all = 0;
        long used = 0;
        for (int i = 0; i < COLUMNS; i++) {
            long ticks = Long.parseLong(columns[i + 1]);
            all += ticks;
            used += i == IDLE || i == IDLE + 1 ? 0 : ticks;
        }
        long ours = 0;
        for (ProcessHandle each : List.of(sample, ProcessHandle.current())) {
            ours += each.info().totalCpuDuration().orElseThrow().toNanos() / NANOS_PER_TICK;
        }
        return new Moment(all, used, ours);
    }

    /** Between 0 and 1. */
    double get() throws IOException {
        Moment now = now();
        double all = Math.max(1, now.all - before.all);
        double others = Math.max(0, now.used - before.used - (now.ours - before.ours));
        return Math.max(0.01, 1 - others / all);
    }
}
