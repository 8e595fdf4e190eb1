package io.github.iree4j.modules.vmvx;

import io.github.iree4j.vm.ModuleProvider;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmModule;

/**
 * The {@code vmvx} module, version 0: the functions importable by VMVX executables. All functions work on
 * {@code vm.buffer}s with offsets, strides and sizes in elements, each checked exactly against the buffer (signatures:
 * {@code iree/modules/vmvx/exports.inl}).
 */
public final class VmvxModule implements ModuleProvider {
    /** The state of a context: only scratch space. */
    static final class State {
        final Scratch scratch = new Scratch();
    }

    private static final VmModule MODULE = build();

    /** Creates the provider; providers are stateless. */
    public VmvxModule() {}

    @Override
    public String name() {
        return MODULE.name();
    }

    @Override
    public VmModule module() {
        return MODULE;
    }

    static VmModule create() {
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
