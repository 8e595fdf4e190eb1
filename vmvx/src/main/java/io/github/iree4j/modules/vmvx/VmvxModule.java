package io.github.iree4j.modules.vmvx;

import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmModule;

/**
 * The {@code vmvx} module, version 0: the functions importable by VMVX executables. All functions work on
 * {@code vm.buffer}s with offsets, strides and sizes in elements, each checked exactly against the buffer (signatures:
 * {@code iree/modules/vmvx/exports.inl}).
 */
public final class VmvxModule {
    /** The state of a context: only scratch space. */
    static final class State {
        final Scratch scratch = new Scratch();
    }

    private static final VmModule MODULE = build();

    private VmvxModule() {}

    /**
     * Returns the module, a stateless singleton.
     *
     * @return the module
     */
    public static VmModule create() {
        return MODULE;
    }

    private static VmModule build() {
        NativeModule.Builder<State> builder = NativeModule.builder("vmvx", 0, State::new)
                .attribute(VmModule.SERVES, "IREE of May 2023 to August 2026 (or of March 2023, without microkernels)");
        Elementwise.register(builder);
        Microkernels.register(builder);
        return builder.build();
    }
}
