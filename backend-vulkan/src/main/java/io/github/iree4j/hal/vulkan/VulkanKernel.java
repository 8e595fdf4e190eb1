package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.ExecutableExport;
import io.github.iree4j.hal.record.Recording;
import io.github.iree4j.nativeaccess.vulkan.VulkanFeature;
import io.github.iree4j.nativeaccess.vulkan.VulkanLayout;
import io.github.iree4j.nativeaccess.vulkan.VulkanPipeline;
import io.github.iree4j.spirv.SpirvLayout;
import io.github.iree4j.spirv.SpirvPipeline;
import io.github.iree4j.spirv.SpirvPipeline.Addresses;
import io.github.iree4j.spirv.SpirvResource;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An export of an executable. The way of passing buffers is part of the pipeline: by descriptor sets, changeable after
 * commands are recorded, or by descriptors recorded with the dispatch, without a set. The pipeline with sets is created
 * when the executable is loaded, so that errors show there; the pipeline with recorded descriptors at the first
 * dispatch using recorded descriptors. Safe from any thread.
 */
final class VulkanKernel implements AutoCloseable {
    private final VulkanCode code;
    private final SpirvPipeline pipeline;
    private final SpirvLayout layout;
    private final MemorySegment spirv; // owned
    private final int[] constants;
    private final ExecutableExport export;
    private final boolean[] uniform; // by binding
    private final boolean[] written; // by binding
    private final VulkanPipeline settable;
    private @Nullable VulkanPipeline pushing; // guarded by this

    VulkanKernel(
            VulkanCode code,
            SpirvPipeline pipeline,
            SpirvLayout layout,
            ExecutableExport export,
            List<SpirvResource> resources,
            long writtenAddresses,
            MemorySegment spirv,
            int[] constants) {
        this.code = code;
        this.pipeline = pipeline;
        this.layout = layout;
        this.export = export;
        this.spirv = spirv;
        this.constants = constants;
        this.uniform = new boolean[layout.bufferCount()];
        this.written = new boolean[export.bindingCount()];
        for (int i = 0; pipeline.addresses() != null && i < written.length; i++) {
            written[i] = i >= Long.SIZE || (writtenAddresses >>> i & 1) != 0;
        }
        int at = 0;
        for (int set = 0; set < layout.sets().size(); set++) {
            for (SpirvLayout.SpirvBinding binding : layout.sets().get(set)) {
                boolean stores = isWritten(resources, set, binding.binding());
                for (int i = 0; i < binding.count(); i++) {
                    uniform[at] = binding.type() == VulkanLayout.UNIFORM_BUFFER;
                    if (pipeline.addresses() == null) {
                        written[at] = stores;
                    }
                    at++;
                }
            }
        }
        this.settable = compile(false);
    }

    private static boolean isWritten(List<SpirvResource> resources, int set, int binding) {
        return resources.stream().anyMatch(each -> each.set() == set && each.binding() == binding && each.isWritten());
    }

    private VulkanPipeline compile(boolean pushes) {
        List<List<VulkanLayout.Binding>> sets = layout.sets().stream()
                .map(set -> set.stream()
                        .map(each -> new VulkanLayout.Binding(each.binding(), each.type(), each.count()))
                        .toList())
                .toList();
        return code.compile(
                spirv,
                pipeline.entryPoint(),
                new VulkanLayout(sets, layout.pushConstantBytes(), pushes),
                constants,
                pipeline.subgroupSize());
    }

    /** Returns the kernel of a dispatch; recording has checked the dispatch to belong to a Vulkan device. */
    static VulkanKernel of(Recording recording, int at) {
        return ((VulkanExecutable) recording.executable(at)).kernel(recording.export(at));
    }

    ExecutableExport export() {
        return export;
    }

    /** Returns the way of passing buffer addresses; null when descriptors are used. */
    @Nullable
    Addresses addresses() {
        return pipeline.addresses();
    }

    int pushConstantBytes() {
        return layout.pushConstantBytes();
    }

    /** Returns whether a binding is a uniform buffer. */
    boolean isUniform(int binding) {
        return uniform[binding];
    }

    /** Returns whether the code may write a binding. */
    boolean isWritten(int binding) {
        return binding >= written.length || written[binding];
    }

    /** Returns whether descriptors can be recorded with dispatches. */
    boolean canPush() {
        int count = uniform.length;
        return count > 0
                && layout.sets().stream().filter(set -> !set.isEmpty()).count() == 1
                && code.handle().has(VulkanFeature.PUSH_DESCRIPTOR)
                && count <= code.handle().properties().limits().maxPushDescriptors();
    }

    /** Returns the pipeline with descriptors in sets, or without any. */
    VulkanPipeline settable() {
        return settable;
    }

    /** Returns the pipeline with recorded descriptors; only if {@link #canPush}. Compiled on first use. */
    synchronized VulkanPipeline pushing() {
        VulkanPipeline made = pushing;
        if (made == null) {
            made = compile(true);
            pushing = made;
        }
        return made;
    }

    @Override
    public synchronized void close() {
        settable.close();
        if (pushing != null) {
            pushing.close();
        }
    }
}
