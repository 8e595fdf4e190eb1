package io.github.iree4j.hal.local;

import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.spi.LoadedExecutable;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;

/** Code that a loader has loaded. */
final class LocalExecutable extends Executable {
    private final String format;
    private final LoadedExecutable loaded;
    private final ExecutableExport[] exports;
    private final long bindingAlignment;

    LocalExecutable(String format, LoadedExecutable loaded) {
        this.format = format;
        this.loaded = loaded;
        this.exports = new ExecutableExport[loaded.exportCount()];
        for (int i = 0; i < exports.length; i++) {
            exports[i] = loaded.export(i);
        }
        this.bindingAlignment = loaded.bindingAlignment();
    }

    LoadedExecutable loaded() {
        return loaded;
    }

    long bindingAlignment() {
        return bindingAlignment;
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
