package io.github.iree4j.modules.vmvx;

import io.github.iree4j.hal.loader.ExecutableLoader;
import io.github.iree4j.hal.loader.LoadedExecutable;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.bytecode.BytecodeModule;
import io.github.iree4j.vm.bytecode.ModuleLimits;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Loads {@code vmvx-bytecode-fb} executables: compiled kernels in the form of VM modules, so the kernels run wherever
 * Java does. Found as a service by the local device.
 */
public final class VmvxExecutableLoader implements ExecutableLoader {
    /** The only format. */
    public static final String FORMAT = "vmvx-bytecode-fb";

    /** Creates the loader; loaders are stateless. */
    public VmvxExecutableLoader() {}

    @Override
    public List<String> formats() {
        return List.of(FORMAT);
    }

    @Override
    public String compileFlags(String format) {
        return "--iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx";
    }

    @Override
    public LoadedExecutable load(String format, MemorySegment data, @Nullable RefCounted owner, int[] constants) {
        if (!format.equals(FORMAT)) {
            throw IreeException.of(
                    StatusCode.INCOMPATIBLE,
                    "executable of format '%s'; this loader takes '%s'".formatted(format, FORMAT));
        }
        BytecodeModule module =
                BytecodeModule.read(data, "VMVX executable", VmTypes.standard(), ModuleLimits.DEFAULTS, owner);
        try {
            return new VmvxExecutable(module, constants);
        } catch (RuntimeException e) {
            module.close();
            throw e;
        }
    }
}
