package io.github.iree4j.nativeaccess.vulkan;

/**
 * A compiled function of a SPIR-V module with a layout. The caller closes the pipeline once no submitted work uses the
 * pipeline any more and no {@link VulkanCommands} recorded with the pipeline will be submitted.
 */
public final class VulkanPipeline extends VulkanObject {
    private final VulkanLayout layout;

    VulkanPipeline(VulkanHandle device, long handle, VulkanLayout layout) {
        super(device, handle, VulkanShim::pipelineRelease);
        this.layout = layout;
    }

    /**
     * Returns the handle, only for words passed to this package.
     *
     * @return the handle, valid until closed
     */
    public long handle() {
        return handle;
    }

    /**
     * Returns the layout.
     *
     * @return the layout given at creation
     */
    public VulkanLayout layout() {
        return layout;
    }

    @Override
    protected String describe() {
        return "pipeline on " + device.describe();
    }
}
