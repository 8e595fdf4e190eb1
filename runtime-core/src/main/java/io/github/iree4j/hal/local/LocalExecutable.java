package io.github.iree4j.hal.local;

import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.loader.LoadedExecutable;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Loaded code, and the measured durations of its workgroups. */
final class LocalExecutable extends Executable {
    /** Durations are kept in 1/16 ns: the shortest workgroups take a few. */
    private static final int FRACTION_BITS = 4;

    /** A duration beyond this multiple of the known one is likely to include an interruption. */
    private static final int OUTLIER = 8;

    private static final VarHandle DURATION = MethodHandles.arrayElementVarHandle(int[].class);

    private final String format;
    private final LoadedExecutable loaded;
    private final ExecutableExport[] exports;
    private final long[] localMemorySizes;
    private final long bindingAlignment;
    private final int[] durations; // per workgroup of each export, 0 when unknown; races are benign

    LocalExecutable(String format, LoadedExecutable loaded) {
        this.format = format;
        this.loaded = loaded;
        this.exports = new ExecutableExport[loaded.exportCount()];
        this.localMemorySizes = new long[exports.length];
        this.durations = new int[exports.length];
        for (int i = 0; i < exports.length; i++) {
            exports[i] = loaded.export(i);
            localMemorySizes[i] = exports[i].localMemorySize();
        }
        this.bindingAlignment = loaded.bindingAlignment();
    }

    /** The code of a dispatch; recording has checked that it is a local one. */
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

    /** Returns whether the duration of an export's workgroups is known. */
    boolean isTimed(int export) {
        return durationOpaque(export) != 0;
    }

    /** Returns the estimated duration of a number of workgroups of an export on one thread; 0 when unknown. */
    int nanos(int export, long workgroups) {
        long duration = durationOpaque(export);
        if (duration == 0) {
            return 0;
        }
        long limit = ((long) Integer.MAX_VALUE << FRACTION_BITS) / duration;
        return workgroups >= limit ? Integer.MAX_VALUE : (int) Math.max(1, workgroups * duration >> FRACTION_BITS);
    }

    /** Records how long workgroups of an export took on one thread. */
    void took(int export, long workgroups, long nanos) {
        long sample = Math.clamp((nanos << FRACTION_BITS) / Math.max(1, workgroups), 1, Integer.MAX_VALUE);
        long known = durationOpaque(export);
        if (known != 0) {
            sample = Math.max(1, known + (Math.min(sample, known * OUTLIER) - known) / 8);
        }
        DURATION.setOpaque(durations, export, (int) Math.min(sample, Integer.MAX_VALUE));
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
            throw new IreeException(
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
