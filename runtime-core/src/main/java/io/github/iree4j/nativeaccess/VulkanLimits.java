package io.github.iree4j.nativeaccess;

/**
 * Limits of a Vulkan device, as the specification names them.
 *
 * @param maxStorageBufferRange bytes that one binding can show
 * @param minStorageBufferOffsetAlignment what offsets of bindings are multiples of; of storage and uniform buffers, the larger
 * @param nonCoherentAtomSize granularity of memory that is not coherent
 * @param maxPushConstantsSize bytes
 * @param maxBoundDescriptorSets sets of one pipeline
 * @param maxPerStageDescriptorStorageBuffers storage buffers of one pipeline
 * @param maxComputeWorkGroupCountX workgroups of a dispatch, first dimension
 * @param maxComputeWorkGroupCountY second
 * @param maxComputeWorkGroupCountZ third
 * @param maxComputeWorkGroupSizeX size of a workgroup, first dimension
 * @param maxComputeWorkGroupSizeY second
 * @param maxComputeWorkGroupSizeZ third
 * @param maxComputeWorkGroupInvocations size of a workgroup, product
 * @param maxComputeSharedMemorySize bytes of a workgroup
 * @param maxMemoryAllocationCount allocations at a time
 * @param maxMemoryAllocationSize bytes of one allocation; 0 when the device does not say
 * @param maxTimelineSemaphoreValueDifference how far signals and waits of a timeline may be ahead of its value
 * @param subgroupSize of pipelines that do not choose
 * @param minSubgroupSize that can be chosen
 * @param maxSubgroupSize that can be chosen
 * @param maxPushDescriptors descriptors that can be recorded
 * @param timestampPeriodPicoseconds of one tick
 * @param minImportedHostPointerAlignment of memory to import; 0 when none can be
 */
public record VulkanLimits(
        long maxStorageBufferRange,
        long minStorageBufferOffsetAlignment,
        long nonCoherentAtomSize,
        int maxPushConstantsSize,
        int maxBoundDescriptorSets,
        int maxPerStageDescriptorStorageBuffers,
        long maxComputeWorkGroupCountX,
        long maxComputeWorkGroupCountY,
        long maxComputeWorkGroupCountZ,
        long maxComputeWorkGroupSizeX,
        long maxComputeWorkGroupSizeY,
        long maxComputeWorkGroupSizeZ,
        int maxComputeWorkGroupInvocations,
        long maxComputeSharedMemorySize,
        long maxMemoryAllocationCount,
        long maxMemoryAllocationSize,
        long maxTimelineSemaphoreValueDifference,
        int subgroupSize,
        int minSubgroupSize,
        int maxSubgroupSize,
        int maxPushDescriptors,
        long timestampPeriodPicoseconds,
        long minImportedHostPointerAlignment) {}
