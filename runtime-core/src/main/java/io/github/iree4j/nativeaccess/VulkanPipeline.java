package io.github.iree4j.nativeaccess;

/**
 * A compiled function of a SPIR-V module with its layout. Whoever closes it knows that no submitted work uses it any more, and that no
 * {@link VulkanCommands} will be submitted that were recorded with it.
 */
public final class VulkanPipeline extends VulkanObject {
    private final VulkanLayout layout;

    VulkanPipeline(VulkanHandle device, long handle, VulkanLayout layout) {
        super(device, handle, VulkanShim::pipelineRelease);
        this.layout = layout;
    }

    /**
     * Returns the handle, for the words of this package's calls only.
     *
     * @return valid until closed
     */
    public long handle() {
        return handle;
    }

    /**
     * Returns what it takes.
     *
     * @return the layout it was made with
     */
    public VulkanLayout layout() {
        return layout;
    }

    @Override
    protected String describe() {
        return "pipeline on " + device.describe();
    }
}
