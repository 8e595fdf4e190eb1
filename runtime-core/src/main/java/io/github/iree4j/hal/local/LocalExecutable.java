package io.github.iree4j.hal.local;

import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.loader.LoadedExecutable;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Code that a loader has loaded, and what its workgroups have taken so far. */
final class LocalExecutable extends Executable {
    /** Durations are kept in 1/16 ns: the shortest workgroups take a few. */
    private static final int FRACTION_BITS = 4;

    /** A longer one than so many times what was known is likely to have been interrupted. */
    private static final int OUTLIER = 8;

    private static final VarHandle DURATION = MethodHandles.arrayElementVarHandle(int[].class);

    private final String format;
    private final LoadedExecutable loaded;
    private final ExecutableExport[] exports;
    private final long[] localMemorySizes;
    private final long bindingAlignment;
    private final int[] durations; // of a workgroup of each export, 0 when unknown; racing writers are welcome

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

    /** The code of a dispatch; that it is ours was checked when it was recorded. */
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

    /** Returns whether it is known how long workgroups of an export take. */
    boolean isTimed(int export) {
        return durationOpaque(export) != 0;
    }

    /** Returns what so many workgroups of an export are likely to take on one thread; 0 when unknown. */
    int nanos(int export, long workgroups) {
        long duration = durationOpaque(export);
        if (duration == 0) {
            return 0;
        }
        long limit = ((long) Integer.MAX_VALUE << FRACTION_BITS) / duration;
        return workgroups >= limit ? Integer.MAX_VALUE : (int) Math.max(1, workgroups * duration >> FRACTION_BITS);
    }

    /** Notes how long workgroups of an export took on one thread. */
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
