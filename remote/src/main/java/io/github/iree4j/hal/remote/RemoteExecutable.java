package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;

/** Code loaded at the peer. */
final class RemoteExecutable extends Executable {
    private final RemoteDriver driver;
    private final long handle;
    private final String format;
    private final List<RemoteExport> exports;

    RemoteExecutable(RemoteDriver driver, long handle, String format, List<RemoteExport> exports) {
        this.driver = driver;
        this.handle = handle;
        this.format = format;
        this.exports = List.copyOf(exports);
    }

    boolean isOf(RemoteDriver other) {
        return driver == other;
    }

    long handle() {
        return handle;
    }

    @Override
    public String format() {
        return format;
    }

    @Override
    public int exportCount() {
        return exports.size();
    }

    @Override
    public ExecutableExport export(int ordinal) {
        if (ordinal < 0 || ordinal >= exports.size()) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "export %d of an executable of format '%s' with %d exports does not exist"
                            .formatted(ordinal, format, exports.size()));
        }
        return exports.get(ordinal).export();
    }

    @Override
    public boolean mayWrite(int ordinal, int binding) {
        return !exports.get(ordinal).read().get(binding);
    }

    @Override
    protected void destroy() {
        driver.client().release(handle);
    }
}
