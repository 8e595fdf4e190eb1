package io.github.iree4j.nativeaccess;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.lifetime.UseGuard;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.KernelFault;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A compiled CPU library (the contents of {@code embedded-elf-<arch>} and {@code system-elf-<arch>} executables) in
 * executable memory: versions 3 to 6 of the interface, produced by IREE since March 2023.
 *
 * <p>The file is untrusted input: for any content of the tables, {@link #load} throws rather than crashes. The machine
 * code cannot be checked: loading runs the file's initializers and query function in this process, with this process's
 * privileges. The system's loader, used by {@link #loadBySystem}, checks less: a malformed file may crash the process.
 *
 * <p>Safe from any thread. Closing while calls run is allowed: the memory is freed when the last call returns. A call
 * after the last reference was released throws FAILED_PRECONDITION.
 */
public final class CpuLibrary extends Resource {
    /** Larger files are rejected before copying. */
    private static final long MAX_FILE_SIZE = 512L << 20;

    /**
     * System property: if {@code false}, faults of compiled code are not caught and end the process with the JVM's error report.
     */
    static final String CATCH_FAULTS = "iree.native.catch-faults";

    private static final int BY_SYSTEM = 1; // SHIM_CPU_EXECUTABLE_SYSTEM
    private static final int UNGUARDED = 2; // SHIM_CPU_EXECUTABLE_UNGUARDED

    private static final long EXPORT_FLAGS = 0;
    private static final long EXPORT_LOCAL_MEMORY = 8;
    private static final long EXPORT_CONSTANTS = 12;
    private static final long EXPORT_BINDINGS = 16;
    private static final long EXPORT_WORKGROUP_SIZE = 20;

    /** A spare error struct for callers without an error struct. */
    private static final AtomicReference<@Nullable NativeError> SPARE_ERROR = new AtomicReference<>();

    private final String name;
    private final long handle;
    private final List<CpuExport> exports;
    private final Map<String, Integer> ordinals = new HashMap<>();
    private final UseGuard guard;

    private CpuLibrary(String name, long handle, List<CpuExport> exports) {
        this.name = name;
        this.handle = handle;
        this.exports = exports;
        this.guard = UseGuard.of(() -> "executable '" + name + "'", () -> Shim.executableRelease(handle));
        for (int i = 0; i < exports.size(); i++) {
            ordinals.putIfAbsent(exports.get(i).name(), i);
        }
    }

    /**
     * Loads a library. The caller closes it.
     *
     * @param name name for messages, for example of the module and the executable
     * @param elf an ELF or FatELF file for this machine; copied, may be heap or mapped memory of any alignment
     * @param specializationConstants values, as many as the library takes; copied
     * @return the library
     * @throws IreeException UNAVAILABLE without the native library or for an import; INVALID_ARGUMENT malformed;
     *     INCOMPATIBLE other machine or library version; PERMISSION_DENIED memory both writable and executable;
     *     UNIMPLEMENTED a relocation or feature missing in the loader; FAILED_PRECONDITION wrong number of constants;
     *     RESOURCE_EXHAUSTED too large; INTERNAL, DATA_LOSS or INCOMPATIBLE, as {@link #dispatch}, when the library's
     *     code faults
     */
    public static CpuLibrary load(String name, MemorySegment elf, int[] specializationConstants) {
        return load(name, elf, specializationConstants, 0);
    }

    /**
     * Loads a library and its dependencies with the operating system's loader, from a sealed copy in memory. The caller closes it.
     *
     * @param name name for messages
     * @param elf a shared library for this machine, fully trusted; copied
     * @param specializationConstants values, as many as the library takes; copied
     * @return the library
     * @throws IreeException as {@link #load}; INCOMPATIBLE also when the system's loader rejects the file
     */
    public static CpuLibrary loadBySystem(String name, MemorySegment elf, int[] specializationConstants) {
        return load(name, elf, specializationConstants, BY_SYSTEM);
    }

    private static CpuLibrary load(String name, MemorySegment elf, int[] specializationConstants, int flags) {
        NativeLibrary.ensureAvailable();
        if (elf.byteSize() > MAX_FILE_SIZE) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "executable '%s' has %d bytes, the limit is %d".formatted(name, elf.byteSize(), MAX_FILE_SIZE));
        }
        // The copy allows heap memory and keeps the bytes from changing or being freed during the checks.
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment file = arena.allocate(elf.byteSize() + 1, 64);
            MemorySegment.copy(elf, 0, file, 0, elf.byteSize());
            byte[] nameBytes = name.getBytes(StandardCharsets.UTF_8);
            MemorySegment nameText = arena.allocate(nameBytes.length + 1L);
            MemorySegment.copy(nameBytes, 0, nameText, ValueLayout.JAVA_BYTE, 0, nameBytes.length);
            MemorySegment constants = arena.allocateFrom(ValueLayout.JAVA_INT, specializationConstants);
            NativeError error = new NativeError();
            long handle = Shim.executableCreate(
                    nameText.address(),
                    nameBytes.length,
                    file.address(),
                    elf.byteSize(),
                    constants.address(),
                    specializationConstants.length,
                    isCatching() ? flags : flags | UNGUARDED,
                    error.address());
            if (handle == 0) {
                throw error.toException();
            }
            Reference.reachabilityFence(error);
            try {
                return new CpuLibrary(name, handle, readExports(handle, arena));
            } catch (Throwable e) {
                Shim.executableRelease(handle);
                throw e;
            }
        }
    }

    private static boolean isCatching() {
        return Boolean.parseBoolean(System.getProperty(CATCH_FAULTS, "true"));
    }

    private static List<CpuExport> readExports(long handle, Arena arena) {
        MemorySegment info = arena.allocate(Shim.EXPORT_SIZE, 8);
        return IntStream.range(0, Shim.executableExportCount(handle))
                .mapToObj(i -> {
                    Shim.executableExport(handle, i, info.address(), 0);
                    String exportName =
                            Shim.text((out, capacity) -> Shim.executableExportName(handle, i, out, capacity));
                    return new CpuExport(
                            exportName.isEmpty() ? "export " + i : exportName,
                            info.get(ValueLayout.JAVA_INT, EXPORT_CONSTANTS),
                            info.get(ValueLayout.JAVA_INT, EXPORT_BINDINGS),
                            info.get(ValueLayout.JAVA_INT, EXPORT_WORKGROUP_SIZE),
                            info.get(ValueLayout.JAVA_INT, EXPORT_WORKGROUP_SIZE + 4),
                            info.get(ValueLayout.JAVA_INT, EXPORT_WORKGROUP_SIZE + 8),
                            info.get(ValueLayout.JAVA_INT, EXPORT_LOCAL_MEMORY),
                            info.get(ValueLayout.JAVA_LONG, EXPORT_FLAGS));
                })
                .toList();
    }

    /**
     * Returns the name given to {@link #load}.
     *
     * @return the name
     */
    public String name() {
        return name;
    }

    /**
     * Returns the number of exports.
     *
     * @return at least 0
     */
    public int exportCount() {
        return exports.size();
    }

    /**
     * Finds an export by name; the first of several exports with the same name.
     *
     * @param exportName the export's name
     * @return the ordinal, or -1 when the name is unknown
     */
    public int lookup(String exportName) {
        return ordinals.getOrDefault(exportName, -1);
    }

    /**
     * Returns the name of an export.
     *
     * @param ordinal less than {@link #exportCount}
     * @return the name
     * @throws IreeException OUT_OF_RANGE when there is no such export
     */
    public String exportName(int ordinal) {
        return export(ordinal).name();
    }

    /**
     * Describes an export.
     *
     * @param ordinal less than {@link #exportCount}
     * @return the description
     * @throws IreeException OUT_OF_RANGE when there is no such export
     */
    public CpuExport export(int ordinal) {
        if (ordinal < 0 || ordinal >= exports.size()) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "export %s of executable '%s', which has %d"
                            .formatted(Integer.toUnsignedString(ordinal), name, exports.size()));
        }
        return exports.get(ordinal);
    }

    /**
     * Runs workgroups {@code [begin, end)} of a dispatch one after the other on this thread, in a single native call,
     * and stops at the first failing workgroup. Allocates nothing unless a workgroup fails.
     *
     * <p>Kernels are machine code: bindings shorter or less aligned than expected by the compiled code are undefined
     * behaviour, so the caller checks bindings. The floating-point state of the thread (rounding, denormals) does not
     * change.
     *
     * @param ordinal the export
     * @param state the state of this dispatch; may be shared with other calls
     * @param begin first workgroup, x innermost, then y, then z
     * @param end end of the range, at most the number of workgroups
     * @param localMemory native scratch memory exclusive to this call, aligned to 64 bytes, at least the export's
     *     {@link CpuExport#localMemoryBytes}; {@link MemorySegment#NULL} when none is needed
     * @param processorId the processor number reported to kernels
     * @param error error struct, exclusive to this call
     * @throws IreeException INTERNAL with {@link KernelFault} when a kernel fails, naming export and workgroup; the
     *     same, DATA_LOSS (of a mapped file) or INCOMPATIBLE (an instruction) when a kernel faults: the kernel is
     *     stopped, and stores made so far remain; OUT_OF_RANGE for a range outside of the grid; INVALID_ARGUMENT for too
     *     few constants, bindings or local memory; FAILED_PRECONDITION when closed
     */
    public void dispatch(
            int ordinal,
            DispatchState state,
            long begin,
            long end,
            MemorySegment localMemory,
            int processorId,
            NativeError error) {
        if (!localMemory.isNative()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "local memory of executable '" + name + "' is heap memory");
        }
        if (!localMemory.scope().isAlive()) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION, "local memory of executable '" + name + "' is closed");
        }
        guard.enter();
        try {
            int status = Shim.executableDispatch(
                    handle,
                    ordinal,
                    state.address(),
                    begin,
                    end,
                    localMemory.address(),
                    localMemory.byteSize(),
                    processorId,
                    error.address());
            if (status != 0) {
                throw error.toException(
                        status, StatusCode.of(status) == StatusCode.INTERNAL ? new KernelFault() : null);
            }
        } finally {
            guard.exit();
            Reference.reachabilityFence(state);
            Reference.reachabilityFence(localMemory);
            Reference.reachabilityFence(error);
        }
    }

    /**
     * Like {@link #dispatch(int, DispatchState, long, long, MemorySegment, int, NativeError)}, for callers without an error struct.
     *
     * @param ordinal the export
     * @param state the state of this dispatch; may be shared with other calls
     * @param begin first workgroup
     * @param end end of the range
     * @param localMemory native scratch memory exclusive to this call
     * @param processorId the processor number reported to kernels
     */
    public void dispatch(
            int ordinal, DispatchState state, long begin, long end, MemorySegment localMemory, int processorId) {
        NativeError error = SPARE_ERROR.getAndSet(null);
        if (error == null) {
            error = new NativeError();
        }
        try {
            dispatch(ordinal, state, begin, end, localMemory, processorId, error);
        } finally {
            SPARE_ERROR.set(error);
        }
    }

    @Override
    protected String describe() {
        return "executable '" + name + "'";
    }

    @Override
    protected void destroy() {
        guard.close();
    }
}
