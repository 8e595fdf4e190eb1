package io.github.iree4j.nativeaccess;

/**
 * A compiled function of a SPIR-V module with its layout. The caller closes it once no submitted work uses it any more and no
 * {@link VulkanCommands} recorded with it will be submitted.
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
     * @return the layout it was created with
     */
    public VulkanLayout layout() {
        return layout;
    }

    @Override
    protected String describe() {
        return "pipeline on " + device.describe();
    }
}
