package io.github.iree4j.vm.bytecode;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.Services;
import java.util.List;

/**
 * Recognises likely faults of modules for a kind of device, in programs that load and run, but may compute wrong results.
 * Found by {@link java.util.ServiceLoader}; the constructor does nothing costly. Safe from any thread.
 */
@NotForApplications
public interface ProgramCheck {
    /**
     * Returns the checks of all installed parts.
     *
     * @return checks, in no particular order
     */
    static List<ProgramCheck> installed() {
        return Services.of(ProgramCheck.class);
    }

    /**
     * Returns whether the faults show on devices that run executables of a format.
     *
     * @param format for example {@code vulkan-spirv-fb}
     * @return true if a runtime with such a device has an interest in the warnings
     */
    boolean concerns(String format);

    /**
     * Examines a module. The module need not be loadable here: imports and types are ignored.
     *
     * @param module the module's tables
     * @return warnings for the author of the module, a sentence each; usually empty
     */
    List<String> warnings(ModuleDef module);
}
