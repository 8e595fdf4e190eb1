package io.github.iree4j.nativeaccess.vulkan;

/**
 * Limits of a Vulkan device, named as in the specification.
 *
 * @param maxStorageBufferRange the most bytes of a binding
 * @param minStorageBufferOffsetAlignment alignment of binding offsets: the larger alignment of storage and uniform
 *     buffers
 * @param nonCoherentAtomSize granularity of non-coherent memory
 * @param maxPushConstantsSize the most bytes of push constants
 * @param maxBoundDescriptorSets the most sets of a pipeline
 * @param maxPerStageDescriptorStorageBuffers the most storage buffers of a pipeline
 * @param maxComputeWorkGroupCountX the most workgroups of a dispatch, first dimension
 * @param maxComputeWorkGroupCountY second dimension
 * @param maxComputeWorkGroupCountZ third dimension
 * @param maxComputeWorkGroupSizeX the largest workgroup, first dimension
 * @param maxComputeWorkGroupSizeY second dimension
 * @param maxComputeWorkGroupSizeZ third dimension
 * @param maxComputeWorkGroupInvocations the most invocations of a workgroup
 * @param maxComputeSharedMemorySize the most bytes of shared memory of a workgroup
 * @param maxMemoryAllocationCount the most simultaneous allocations
 * @param maxMemoryAllocationSize the most bytes of an allocation; 0 when unknown
 * @param maxTimelineSemaphoreValueDifference the largest distance of signals and waits of a timeline ahead of the
 *     timeline's value
 * @param subgroupSize the default subgroup size
 * @param minSubgroupSize the smallest selectable subgroup size
 * @param maxSubgroupSize the largest selectable subgroup size
 * @param maxPushDescriptors the most descriptors in a recording
 * @param timestampPeriodPicoseconds picoseconds per tick
 * @param minImportedHostPointerAlignment alignment of host memory to import; 0 when import is not supported
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
