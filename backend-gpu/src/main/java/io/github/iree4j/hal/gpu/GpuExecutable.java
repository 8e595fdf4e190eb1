package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.ExecutableLayout;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.UnsupportedArchitecture;
import io.github.iree4j.nativeaccess.gpu.GpuDevice;
import io.github.iree4j.nativeaccess.gpu.GpuProperties;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Modules and kernels, loaded on a device; loaded code keeps the device open. */
final class GpuExecutable extends Executable {
    private static final Pattern NOT_IN_PTX = Pattern.compile("[^A-Za-z0-9_]");

    private final GpuHardware hardware;
    private final GpuDevice device;
    private final String format;
    private final List<Long> modules = new ArrayList<>();
    private final List<GpuKernel> kernels = new ArrayList<>();

    private GpuExecutable(GpuHardware hardware, String format) {
        this.hardware = hardware;
        this.device = hardware.device();
        this.format = format;
        device.retain();
    }

    /**
     * Loads an executable: reads the file, loads the modules into the driver, and finds the kernels.
     *
     * @throws IreeException INVALID_ARGUMENT, INCOMPATIBLE, UNIMPLEMENTED, OUT_OF_RANGE or RESOURCE_EXHAUSTED if
     *     invalid or unsupported
     */
    static GpuExecutable load(GpuHardware hardware, ExecutableParams params) {
        GpuExecutableFile file = GpuExecutableFile.read(params.data(), params.format());
        List<ExecutableLayout> layouts = params.layouts();
        if (!layouts.isEmpty() && layouts.size() != file.exports().size()) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "executable of format '%s' has %d exports and the program gives %d layouts"
                            .formatted(params.format(), file.exports().size(), layouts.size()));
        }
        GpuExecutable made = new GpuExecutable(hardware, params.format());
        boolean done = false;
        try {
            for (GpuImage image : file.modules()) {
                made.loadModule(image);
            }
            for (int i = 0; i < file.exports().size(); i++) {
                made.loadKernel(file.exports().get(i), layouts.isEmpty() ? null : layouts.get(i));
            }
            done = true;
            return made;
        } finally {
            if (!done) {
                made.destroy();
            }
        }
    }

    private void loadModule(GpuImage image) {
        try (Arena arena = Arena.ofConfined()) {
            // The driver gets a copy: the data may be on a heap, at any alignment, and need not outlive the call.
            MemorySegment copy = image.copy(arena);
            modules.add(hardware.code().load(image, copy, arena));
        } catch (IreeException e) {
            String remedy = remedy(e);
            throw IreeException.of(
                    e.code(),
                    "module %d of the executable, %s%s, cannot be loaded on device '%s' (%s): %s%s"
                            .formatted(
                                    modules.size(),
                                    image.kind(),
                                    image.architecture().isEmpty() ? "" : " for " + image.architecture(),
                                    hardware.id(),
                                    hardware.architecture(),
                                    e.getMessage(),
                                    remedy == null ? "" : "; " + remedy),
                    e,
                    remedy == null ? null : new UnsupportedArchitecture(hardware.id(), remedy));
        }
    }

    private @Nullable String remedy(IreeException cause) {
        if (cause.code() != StatusCode.INCOMPATIBLE) {
            return null;
        }
        return String.valueOf(cause.getMessage()).contains("UNSUPPORTED_PTX_VERSION")
                ? "update the driver, or compile the program with an older release of iree-compile"
                : "compile the program for this architecture: " + hardware.compileFlag();
    }

    private void loadKernel(GpuExecutableFile.Export export, @Nullable ExecutableLayout layout) {
        int constants = export.constantCount();
        int bindings = export.bindingCount();
        if (constants < 0 || bindings < 0) { // before August 2024
            if (layout == null) {
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "kernel '%s' does not say how many buffers it takes, and neither does the program; compile it again"
                                .formatted(export.name()));
            }
            constants = layout.constantCount();
            bindings = layout.sets().stream().mapToInt(List::size).sum();
        }
        checkLimit(export, "constants", constants, CommandBuffer.MAXIMUM_CONSTANTS);
        checkLimit(export, "buffers", bindings, CommandBuffer.MAXIMUM_BINDINGS);
        GpuProperties limits = device.properties();
        checkLimit(export, "threads of a workgroup along x", export.blockX(), limits.maxBlockX());
        checkLimit(export, "threads of a workgroup along y", export.blockY(), limits.maxBlockY());
        checkLimit(export, "threads of a workgroup along z", export.blockZ(), limits.maxBlockZ());
        long threads = (long) export.blockX() * export.blockY() * export.blockZ();
        checkLimit(export, "threads of a workgroup", threads, limits.maxThreads());
        checkLimit(export, "bytes of dynamic shared memory", export.sharedBytes(), limits.maxSharedBytes());
        long module = modules.get(export.module());
        GpuDevice.Function function = device.function(module, export.name(), 0);
        checkLimit(export, "threads of a workgroup (with the registers that it uses)", threads, function.maxThreads());
        checkParameters(export, function, bindings, constants);
        long shared = (long) function.sharedBytes() + export.sharedBytes();
        checkLimit(export, "bytes of shared memory", shared, limits.maxSharedBytes());
        if (export.sharedBytes() > 0) {
            device.function(module, export.name(), export.sharedBytes()); // the driver allows this size
        }
        boolean[] readOnly = new boolean[bindings];
        long[] flags = export.bindingFlags();
        for (int i = 0; flags != null && i < Math.min(bindings, flags.length); i++) {
            readOnly[i] = (flags[i] & GpuExecutableFile.READ_ONLY) != 0;
        }
        ExecutableExport description = new ExecutableExport(
                export.name(), 0, constants, bindings, export.blockX(), export.blockY(), export.blockZ(), shared);
        kernels.add(new GpuKernel(description, function.handle(), export.sharedBytes(), readOnly));
    }

    /** Checks the parameters: on a launch, the driver reads as many parameters as the code declares, given or not. */
    private static void checkParameters(
            GpuExecutableFile.Export export, GpuDevice.Function function, int bindings, int constants) {
        if (function.parameters() > bindings + constants || function.largestParameter() > Long.BYTES) {
            throw GpuExecutableFile.invalid(
                    "the code of kernel '%s' has %d parameters of at most %d bytes, the executable declares %d buffers and %d constants, of at most %d bytes",
                    export.name(), function.parameters(), function.largestParameter(), bindings, constants, Long.BYTES);
        }
    }

    private void checkLimit(GpuExecutableFile.Export export, String what, long value, long limit) {
        if (value > limit) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "kernel '%s' has %d %s, the limit is %d of device '%s'; compile the program for it"
                            .formatted(export.name(), value, what, limit, hardware.id()));
        }
    }

    /** Returns whether a device loaded the executable. */
    boolean isOf(GpuHardware other) {
        return hardware == other;
    }

    GpuKernel kernel(int export) {
        return kernels.get(export);
    }

    @Override
    public boolean mayWrite(int ordinal, int binding) {
        return kernel(ordinal).mayWrite(binding);
    }

    @Override
    public String format() {
        return format;
    }

    @Override
    public int exportCount() {
        return kernels.size();
    }

    @Override
    public ExecutableExport export(int ordinal) {
        if (ordinal < 0 || ordinal >= kernels.size()) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "export %d of an executable of format '%s' with %d exports does not exist"
                            .formatted(ordinal, format, kernels.size()));
        }
        return kernels.get(ordinal).export();
    }

    /**
     * Replaces characters missing in PTX as compilers do in names of kernels, but not in lookups: {@code
     * main$async_dispatch_0}, of a function imported from ONNX, is the kernel {@code main_async_dispatch_0}.
     */
    @Override
    protected String exportName(String name) {
        return NOT_IN_PTX.matcher(name).replaceAll("_");
    }

    @Override
    protected void destroy() {
        KnownGraphs.freeing();
        modules.forEach(device::unloadModule);
        device.release();
    }
}
