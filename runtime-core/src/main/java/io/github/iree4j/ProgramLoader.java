package io.github.iree4j;

import io.github.iree4j.hal.Device;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.VmModule;
import java.util.ArrayList;
import java.util.List;

/** Loads the modules of a program, puts those of the runtime before them, and links them. */
final class ProgramLoader {
    private final List<Device> devices;
    private final ContextOptions limits;

    ProgramLoader(List<Device> devices, ContextOptions limits) {
        this.devices = devices;
        this.limits = limits;
    }

    /** What a program owns. */
    record Loaded(Context context, List<VmModule> modules, List<AutoCloseable> owned) {
        void close() {
            context.close();
        }
    }

    Loaded load(ProgramOptions options) {
        List<VmModule> modules = new ArrayList<>();
        for (ProgramOptions.Source source : options.modules()) {
            if (source instanceof ProgramOptions.Source.Module module) {
                modules.add(module.module());
            } else {
                throw new IreeException(StatusCode.UNIMPLEMENTED, "files on " + devices);
            }
        }
        return new Loaded(Context.create(modules, limits), modules, List.of());
    }
}
