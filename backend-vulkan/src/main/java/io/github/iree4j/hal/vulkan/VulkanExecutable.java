package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.ExecutableLayout;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.nativeaccess.vulkan.VulkanFeature;
import io.github.iree4j.nativeaccess.vulkan.VulkanHandle;
import io.github.iree4j.spirv.SpirvEntryPoint;
import io.github.iree4j.spirv.SpirvExecutable;
import io.github.iree4j.spirv.SpirvLayout;
import io.github.iree4j.spirv.SpirvLayout.SpirvBinding;
import io.github.iree4j.spirv.SpirvModule;
import io.github.iree4j.spirv.SpirvPipeline;
import io.github.iree4j.spirv.SpirvResource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Compiled shaders, loaded on a device: {@code vulkan-spirv-fb} and {@code vulkan-spirv-bda-v1}. */
final class VulkanExecutable extends Executable {
    /** The format of code using descriptors. */
    static final String DESCRIPTORS = "vulkan-spirv-fb";

    /** The format of code using device addresses. */
    static final String ADDRESSES = "vulkan-spirv-bda-v1";

    /** Maximum number of specialisation constants; compilers emit a few. */
    private static final int CONSTANTS_LIMIT = 1024;

    private final VulkanCode code;
    private final String format;
    private final VulkanKernel[] kernels;

    private VulkanExecutable(VulkanCode code, String format, List<VulkanKernel> kernels) {
        this.code = code;
        this.format = format;
        this.kernels = kernels.toArray(VulkanKernel[]::new);
    }

    /**
     * Loads an executable: parses the data, checks the modules and their requirements, and has the driver compile all
     * exports.
     *
     * @throws IreeException INVALID_ARGUMENT, INCOMPATIBLE, UNIMPLEMENTED, OUT_OF_RANGE or RESOURCE_EXHAUSTED for an
     *     invalid or unsupported executable
     */
    static VulkanExecutable load(VulkanCode code, ExecutableParams params) {
        VulkanHandle device = code.handle();
        if (params.constants().length > CONSTANTS_LIMIT) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "%d specialisation constants exceed the limit of %d"
                            .formatted(params.constants().length, CONSTANTS_LIMIT));
        }
        SpirvExecutable executable = SpirvExecutable.read(params.data());
        List<ExecutableLayout> given = params.layouts();
        if (!given.isEmpty() && given.size() != executable.pipelines().size()) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "executable of format '%s' has %d exports and the program gives %d layouts"
                            .formatted(params.format(), executable.pipelines().size(), given.size()));
        }
        // The driver gets copies: the data may be on a heap, at any alignment, and closed before the last pipeline is
        // created.
        List<MemorySegment> words = new ArrayList<>();
        List<SpirvModule> modules = new ArrayList<>();
        for (MemorySegment module : executable.modules()) {
            MemorySegment copy = Arena.ofAuto().allocate(Math.max(8, module.byteSize()), 8);
            words.add(copy.copyFrom(module).asSlice(0, module.byteSize()).asReadOnly());
            modules.add(SpirvModule.read(words.getLast(), params.constants()));
            SpirvRequirements.check(device, modules.getLast());
        }
        List<VulkanKernel> kernels = new ArrayList<>();
        try {
            for (int i = 0; i < executable.pipelines().size(); i++) {
                SpirvPipeline pipeline = executable.pipelines().get(i);
                checkFormat(params.format(), pipeline);
                SpirvEntryPoint entry = modules.get(pipeline.module()).entryPoint(pipeline.entryPoint());
                SpirvLayout layout = layout(pipeline, entry, given.isEmpty() ? null : given.get(i));
                SpirvRequirements.check(
                        device, pipeline.name(), entry, layout, pipeline.addresses() != null, pipeline.subgroupSize());
                kernels.add(new VulkanKernel(
                        code,
                        pipeline,
                        layout,
                        export(pipeline, entry, layout),
                        entry.resources(),
                        modules.get(pipeline.module()).writtenAddresses(),
                        words.get(pipeline.module()),
                        params.constants()));
            }
        } catch (RuntimeException e) {
            kernels.forEach(VulkanKernel::close);
            throw e;
        }
        return new VulkanExecutable(code, params.format(), kernels);
    }

    /** Returns the formats supported by a device. */
    static List<String> formats(VulkanHandle device) {
        return device.has(VulkanFeature.BUFFER_DEVICE_ADDRESS) ? List.of(DESCRIPTORS, ADDRESSES) : List.of(DESCRIPTORS);
    }

    private static void checkFormat(String format, SpirvPipeline pipeline) {
        String own = pipeline.addresses() == null ? DESCRIPTORS : ADDRESSES;
        if (!format.equals(own)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "export '%s' is of format '%s', the executable is said to be of '%s'"
                            .formatted(pipeline.name(), own, format));
        }
    }

    /** Returns the layout from the executable, otherwise from the program, otherwise from the code. */
    private static SpirvLayout layout(SpirvPipeline pipeline, SpirvEntryPoint entry, @Nullable ExecutableLayout given) {
        SpirvLayout own = pipeline.layout();
        if (own != null) {
            return own;
        }
        if (given == null) {
            return SpirvLayout.of(entry);
        }
        List<List<SpirvBinding>> sets = new ArrayList<>();
        for (int set = 0; set < given.sets().size(); set++) {
            List<SpirvBinding> bindings = new ArrayList<>();
            for (int number : given.sets().get(set)) {
                bindings.add(binding(entry, set, number));
            }
            sets.add(bindings);
        }
        return new SpirvLayout(sets, Integer.BYTES * given.constantCount());
    }

    /** Returns a binding. Older programs declare the uniform bindings; so does the code, for the bindings used by the code. */
    private static SpirvBinding binding(SpirvEntryPoint entry, int set, int number) {
        for (SpirvResource resource : entry.resources()) {
            if (resource.set() == set && resource.binding() == number) {
                return new SpirvBinding(number, resource.type(), 1);
            }
        }
        return new SpirvBinding(number, SpirvResource.STORAGE_BUFFER, 1);
    }

    private static ExecutableExport export(SpirvPipeline pipeline, SpirvEntryPoint entry, SpirvLayout layout) {
        SpirvPipeline.Addresses addresses = pipeline.addresses();
        int constants = addresses != null ? addresses.constantCount() : layout.pushConstantBytes() / Integer.BYTES;
        int bindings = addresses != null ? addresses.bindingCount() : layout.bufferCount();
        if (constants > CommandBuffer.MAXIMUM_CONSTANTS) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "export '%s' takes %d constants, the limit is %d"
                            .formatted(pipeline.name(), constants, CommandBuffer.MAXIMUM_CONSTANTS));
        }
        return new ExecutableExport(
                pipeline.name(),
                0,
                constants,
                bindings,
                entry.workgroupSizeX(),
                entry.workgroupSizeY(),
                entry.workgroupSizeZ(),
                entry.workgroupBytes());
    }

    /** Returns whether a device has loaded this executable. */
    boolean isOf(VulkanCode device) {
        return device == code;
    }

    VulkanKernel kernel(int export) {
        return kernels[export];
    }

    @Override
    public boolean mayWrite(int ordinal, int binding) {
        return kernels[ordinal].isWritten(binding);
    }

    @Override
    public String format() {
        return format;
    }

    @Override
    public int exportCount() {
        return kernels.length;
    }

    @Override
    public ExecutableExport export(int ordinal) {
        if (ordinal < 0 || ordinal >= kernels.length) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "export %d of an executable of format '%s' with %d exports does not exist"
                            .formatted(ordinal, format, kernels.length));
        }
        return kernels[ordinal].export();
    }

    @Override
    protected void destroy() {
        for (VulkanKernel kernel : kernels) {
            kernel.close();
        }
    }
}
