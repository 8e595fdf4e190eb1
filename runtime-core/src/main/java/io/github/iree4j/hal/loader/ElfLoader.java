package io.github.iree4j.hal.loader;

import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.nativeaccess.CpuExport;
import io.github.iree4j.nativeaccess.CpuFeatures;
import io.github.iree4j.nativeaccess.CpuLibrary;
import io.github.iree4j.nativeaccess.DispatchState;
import io.github.iree4j.nativeaccess.NativeError;
import io.github.iree4j.nativeaccess.NativeLibrary;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Loads machine code through the native library: code embedded by the compiler, {@code embedded-elf-<arch>}, with the
 * runtime's loader, and shared libraries, {@code system-elf-<arch>}, with the loader of the operating system.
 */
final class ElfLoader implements ExecutableLoader {
    private static final String EMBEDDED = "embedded-elf-";
    private static final String SYSTEM = "system-elf-";

    private final boolean bySystem;

    private ElfLoader(boolean bySystem) {
        this.bySystem = bySystem;
    }

    static ElfLoader embedded() {
        return new ElfLoader(false);
    }

    static ElfLoader bySystem() {
        return new ElfLoader(true);
    }

    /** Returns whether a format needs the system's loader. */
    static boolean isForSystem(String format) {
        return format.startsWith(SYSTEM);
    }

    @Override
    public List<String> formats() {
        // Without the native library nothing can be loaded; the device then does not list the format.
        return NativeLibrary.unavailabilityCause() == null
                ? List.of((bySystem ? SYSTEM : EMBEDDED) + CpuFeatures.architecture())
                : List.of();
    }

    @Override
    public String compileFlags(String format) {
        return "--iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-triple="
                + (format.endsWith("arm_64") ? "aarch64" : "x86_64")
                + "-unknown-linux-gnu" // the compiler itself replaces the system where it embeds the code
                + (bySystem ? " --iree-llvmcpu-link-embedded=false" : "");
    }

    @Override
    public LoadedExecutable load(String format, MemorySegment data, @Nullable RefCounted owner, int[] constants) {
        return new ElfExecutable(
                bySystem ? CpuLibrary.loadBySystem(format, data, constants) : CpuLibrary.load(format, data, constants));
    }

    private static final class ElfExecutable implements LoadedExecutable {
        /** Compiled code uses aligned vector loads on every binding. */
        private static final int BINDING_ALIGNMENT = 64;

        private final CpuLibrary library;
        private final @Nullable Native[] workers =
                new @Nullable Native[MAXIMUM_WORKERS]; // each entry written by its worker only

        /** The arguments of one worker's calls of native code. */
        private static final class Native {
            final DispatchState state = new DispatchState();
            final NativeError error = new NativeError();
            long sequence; // of the dispatch described by the state
        }

        ElfExecutable(CpuLibrary library) {
            this.library = library;
        }

        @Override
        public int exportCount() {
            return library.exportCount();
        }

        @Override
        public ExecutableExport export(int ordinal) {
            CpuExport export = library.export(ordinal);
            return new ExecutableExport(
                    export.name(),
                    (int) export.flags(),
                    export.constantCount(),
                    export.bindingCount(),
                    export.workgroupSizeX(),
                    export.workgroupSizeY(),
                    export.workgroupSizeZ(),
                    export.localMemoryBytes());
        }

        @Override
        public int lookup(String name) {
            return library.lookup(name);
        }

        @Override
        public int bindingAlignment() {
            return BINDING_ALIGNMENT;
        }

        @Override
        public void dispatch(int export, HostDispatch dispatch, long begin, long end, int worker) {
            Native mine = workers[worker];
            if (mine == null) {
                mine = new Native();
                workers[worker] = mine;
            }
            if (mine.sequence != dispatch.sequence()) {
                mine.sequence = 0;
                fill(mine.state, dispatch);
                mine.sequence = dispatch.sequence();
            }
            library.dispatch(export, mine.state, begin, end, dispatch.localMemory(), worker, mine.error);
        }

        private static void fill(DispatchState state, HostDispatch dispatch) {
            int constants = dispatch.constantCount();
            int bindings = dispatch.bindingCount();
            state.begin(constants, bindings)
                    .workgroupCount(dispatch.workgroupCountX(), dispatch.workgroupCountY(), dispatch.workgroupCountZ())
                    .workgroupSize(dispatch.workgroupSizeX(), dispatch.workgroupSizeY(), dispatch.workgroupSizeZ())
                    .maxConcurrency(dispatch.maxConcurrency());
            for (int i = 0; i < constants; i++) {
                state.constant(i, dispatch.constant(i));
            }
            for (int i = 0; i < bindings; i++) {
                state.binding(i, dispatch.bindingStorage(i), dispatch.bindingOffset(i), dispatch.bindingLength(i));
            }
        }

        @Override
        public void close() {
            library.close();
        }
    }
}
