package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.stream.CommandForm;
import io.github.iree4j.hal.stream.Lane;
import io.github.iree4j.hal.stream.ResolvedBindings;
import io.github.iree4j.hal.stream.StreamEncoder;
import io.github.iree4j.hal.stream.StreamStorage;
import io.github.iree4j.hal.stream.TransferCommands;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.jspecify.annotations.Nullable;

/** Turns recordings into frames. */
final class RemoteEncoder implements StreamEncoder {
    private final RemoteDriver driver;

    RemoteEncoder(RemoteDriver driver) {
        this.driver = driver;
    }

    @Override
    public TransferCommands transfers(Lane lane) {
        return new RemoteCommands(driver, null);
    }

    @Override
    public void checkDispatch(
            Executable executable, int export, DispatchConfig config, @Nullable BufferRef workgroupCount) {
        if (!(executable instanceof RemoteExecutable own) || !own.isOf(driver)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "executable of format '%s' was not created by this device".formatted(executable.format()));
        }
    }

    @Override
    public CommandForm form(
            Recording recording,
            ResolvedBindings bindings,
            @Nullable StreamStorage updates,
            Lane lane,
            boolean oneShot) {
        return new RemoteForm(driver, recording, bindings, updates, oneShot);
    }

    @Override
    public void close() {}
}
