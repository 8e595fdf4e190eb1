package io.github.iree4j.hal.local;

import io.github.iree4j.async.ThreadDeadlines;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.loader.LoadedExecutable;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * Loaded code with measured durations of workgroups: per export and number of workgroups, a key that distinguishes most
 * shapes. A number without a measurement has the duration of the export's latest workgroups.
 *
 * <p>Durations count as unknown until an export has run {@value #NEW_RUNS} times: a single input is no evidence, since
 * the contents of buffers may decide about a duration. Durations count as unknown again for {@value #DOUBTED_RUNS} runs
 * after a run that took far longer than known.
 */
final class LocalExecutable extends Executable {
    /** Durations are kept in 1/16 ns: the shortest workgroups take a few nanoseconds. */
    private static final int FRACTION_BITS = 4;

    /** A duration beyond this multiple of the known duration is likely to include an interruption. */
    private static final int OUTLIER = 8;

    /** Runs of a new export until the durations are known. */
    static final int NEW_RUNS = 16;

    /** Runs of a doubted export until the durations are known. After a mere disturbance, waking so many workers takes no longer than the disturbance. */
    static final int DOUBTED_RUNS = 64;

    /** A thread with a deadline does not notice shorter surprises: the deadline itself is no more exact. */
    private static final long HARMLESS_NANOS = ThreadDeadlines.LOOK_MILLIS * 1_000_000L;

    /** Numbers of workgroups with separate durations, per export; others displace them. A power of two. */
    private static final int SHAPES = 4;

    /** 4 us, a hundred times the cost of reading the clock twice. */
    private static final long SHORT = 4_000 << FRACTION_BITS;

    private static final int HASH = 0x9E3779B9;

    private static final VarHandle DURATION = MethodHandles.arrayElementVarHandle(int[].class);
    private static final VarHandle DOUBT = MethodHandles.arrayElementVarHandle(int[].class);
    private static final VarHandle SHAPE = MethodHandles.arrayElementVarHandle(long[].class);

    private final String format;
    private final LoadedExecutable loaded;
    private final ExecutableExport[] exports;
    private final long[] localMemorySizes;
    private final long bindingAlignment;
    private final int[] doubts; // runs until the durations of each export are known; races are benign
    private final int[] durations; // per workgroup of each export, 0 when unknown; races are benign

    /*
     * SHAPES words for each export, races are benign:
     *
     *   63..32 number of workgroups of a dispatch | 31..0 duration of each; 0 for an unused word
     */
    private final long[] shapes;

    LocalExecutable(String format, LoadedExecutable loaded) {
        this.format = format;
        this.loaded = loaded;
        this.exports = new ExecutableExport[loaded.exportCount()];
        this.localMemorySizes = new long[exports.length];
        this.doubts = new int[exports.length];
        this.durations = new int[exports.length];
        this.shapes = new long[exports.length * SHAPES];
        Arrays.fill(doubts, NEW_RUNS);
        for (int i = 0; i < exports.length; i++) {
            exports[i] = loaded.export(i);
            localMemorySizes[i] = exports[i].localMemorySize();
        }
        this.bindingAlignment = loaded.bindingAlignment();
    }

    /** Returns the code of a dispatch; recording has checked for a local executable. */
    static LocalExecutable of(Recording recording, int at) {
        return (LocalExecutable) recording.executable(at);
    }

    LoadedExecutable loaded() {
        return loaded;
    }

    long bindingAlignment() {
        return bindingAlignment;
    }

    long localMemorySize(int export) {
        return localMemorySizes[export];
    }

    /** Returns whether some workgroups of an export are known to be so short that reading the clock would count. */
    boolean isShort(int export, long all, long workgroups) {
        long duration = shapeDuration(export, all);
        return !isDoubted(export) && duration != 0 && workgroups < SHORT && workgroups * duration < SHORT;
    }

    /**
     * Returns the estimated duration of some workgroups of an export on a single thread.
     *
     * @param all number of workgroups of the dispatch
     * @param workgroups number of workgroups to estimate
     * @return nanoseconds, at least 1; 0 when unknown
     */
    int nanos(int export, long all, long workgroups) {
        return isDoubted(export) ? 0 : measuredNanos(export, all, workgroups);
    }

    private int measuredNanos(int export, long all, long workgroups) {
        long duration = shapeDuration(export, all);
        if (duration == 0) {
            duration = durationOpaque(export);
        }
        if (duration == 0) {
            return 0;
        }
        long limit = ((long) Integer.MAX_VALUE << FRACTION_BITS) / duration;
        return workgroups >= limit ? Integer.MAX_VALUE : (int) Math.max(1, workgroups * duration >> FRACTION_BITS);
    }

    /**
     * Records the duration of workgroups of an export on a single thread.
     *
     * @param all number of workgroups of the dispatch
     * @param workgroups number of measured workgroups
     */
    void took(int export, long all, long workgroups, long nanos) {
        int expected = measuredNanos(export, all, workgroups);
        if (expected != 0 && isSurprise(expected, nanos)) {
            doubt(export);
        }
        long sample = Math.clamp((nanos << FRACTION_BITS) / Math.max(1, workgroups), 1, Integer.MAX_VALUE);
        DURATION.setOpaque(durations, export, corrected(durationOpaque(export), sample));
        if (all >>> Integer.SIZE == 0) {
            int known = shapeIndex(export, all);
            int at = known < 0 ? shapePlace(export, all) : known;
            SHAPE.setOpaque(shapes, at, all << Integer.SIZE | corrected(shapeDuration(export, all), sample));
        }
    }

    /** Returns whether work took so much longer than expected that the next run may take any time. */
    static boolean isSurprise(long expected, long nanos) {
        return nanos >= HARMLESS_NANOS && nanos / OUTLIER >= expected;
    }

    /** Makes the durations of an export unknown for a while. */
    void doubt(int export) {
        DOUBT.setOpaque(doubts, export, DOUBTED_RUNS);
    }

    /** Counts a measured run of an export. */
    void ran(int export) {
        int left = (int) DOUBT.getOpaque(doubts, export);
        if (left > 0) {
            DOUBT.setOpaque(doubts, export, left - 1);
        }
    }

    private boolean isDoubted(int export) {
        return (int) DOUBT.getOpaque(doubts, export) != 0;
    }

    /** Lowers a duration at once and raises it slowly: disturbances lengthen a measurement. */
    private static int corrected(long known, long sample) {
        boolean isLess = known == 0 || sample < known;
        long next = isLess ? sample : known + (Math.min(sample, known * OUTLIER) - known) / 8;
        return Math.clamp(next, 1, Integer.MAX_VALUE);
    }

    private long shapeDuration(int export, long all) {
        int at = shapeIndex(export, all);
        return at < 0 ? 0 : (long) SHAPE.getOpaque(shapes, at) & 0xFFFF_FFFFL;
    }

    /** Returns the index of the duration for a number of workgroups; negative for none. */
    private int shapeIndex(int export, long all) {
        for (int i = export * SHAPES; i < (export + 1) * SHAPES; i++) {
            long word = (long) SHAPE.getOpaque(shapes, i);
            if (word != 0 && word >>> Integer.SIZE == all) {
                return i;
            }
        }
        return -1;
    }

    /** Returns an index for the duration of a new number of workgroups: an unused word, else a word chosen by the number. */
    private int shapePlace(int export, long all) {
        for (int i = export * SHAPES; i < (export + 1) * SHAPES; i++) {
            if ((long) SHAPE.getOpaque(shapes, i) == 0) {
                return i;
            }
        }
        return export * SHAPES + ((int) all * HASH >>> Integer.SIZE - Integer.numberOfTrailingZeros(SHAPES));
    }

    private int durationOpaque(int export) {
        return (int) DURATION.getOpaque(durations, export);
    }

    @Override
    public String format() {
        return format;
    }

    @Override
    public int exportCount() {
        return exports.length;
    }

    @Override
    public ExecutableExport export(int ordinal) {
        if (ordinal < 0 || ordinal >= exports.length) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "export %d of an executable of format '%s' with %d exports does not exist"
                            .formatted(ordinal, format, exports.length));
        }
        return exports[ordinal];
    }

    @Override
    protected void destroy() {
        loaded.close();
    }
}
