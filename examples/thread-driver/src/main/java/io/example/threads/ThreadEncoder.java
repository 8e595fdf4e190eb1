package io.example.threads;

import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.hal.stream.CommandForm;
import io.github.iree4j.hal.stream.DispatchLimits;
import io.github.iree4j.hal.stream.Lane;
import io.github.iree4j.hal.stream.ResolvedBindings;
import io.github.iree4j.hal.stream.StreamEncoder;
import io.github.iree4j.hal.stream.StreamStorage;
import io.github.iree4j.hal.stream.TransferCommands;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.jspecify.annotations.Nullable;

/** Translates recordings into lists of functions. */
final class ThreadEncoder implements StreamEncoder {
    private static final DispatchLimits LIMITS = new DispatchLimits("threads", 65535, 65535, 65535);

    private final ThreadDriver driver;

    ThreadEncoder(ThreadDriver driver) {
        this.driver = driver;
    }

    @Override
    public TransferCommands transfers(Lane lane) {
        return new ThreadCommands(driver);
    }

    @Override
    public void checkDispatch(
            Executable executable, int export, DispatchConfig config, @Nullable BufferRef workgroupCount) {
        if (!(executable instanceof KernelExecutable own) || !own.isOf(driver)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "executable of format '%s' was not created by this device".formatted(executable.format()));
        }
        LIMITS.check(own.export(export), config, workgroupCount);
    }

    @Override
    public CommandForm form(
            Recording recording,
            ResolvedBindings bindings,
            @Nullable StreamStorage updates,
            Lane lane,
            boolean oneShot) {
        return new ThreadForm(driver, recording, bindings, updates);
    }

    @Override
    public void close() {}
}
