package io.github.iree4j.nativeaccess.vulkan;

/**
 * A compiled function of a SPIR-V module with a layout. The caller closes the pipeline once no submitted work uses the
 * pipeline any more and no {@link VulkanCommands} recorded with the pipeline will be submitted.
 */
public final class VulkanPipeline extends VulkanObject {
    VulkanPipeline(VulkanHandle device, long handle) {
        super(device, handle, VulkanShim::pipelineRelease);
    }

    /**
     * Returns the handle, only for words passed to this package.
     *
     * @return the handle, valid until closed
     */
    public long handle() {
        return handle;
    }

    @Override
    protected String describe() {
        return "pipeline on " + device.describe();
    }
}
