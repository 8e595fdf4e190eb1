package io.github.iree4j.nativeaccess.vulkan;

import java.util.EnumSet;
import java.util.Set;

/** Features of Vulkan devices, named as in the specification. */
public enum VulkanFeature {
    /** Semaphores with a counter; required. */
    TIMELINE_SEMAPHORE("timelineSemaphore"),
    /** Barriers and submissions of Vulkan 1.3; required. */
    SYNCHRONIZATION_2("synchronization2"),
    /** C-like layouts of blocks. */
    SCALAR_BLOCK_LAYOUT("scalarBlockLayout"),
    /** Buffers have addresses. */
    BUFFER_DEVICE_ADDRESS("bufferDeviceAddress"),
    /** The choice of subgroup size per pipeline. */
    SUBGROUP_SIZE_CONTROL("subgroupSizeControl"),
    /** Subgroups can be required to be full. */
    COMPUTE_FULL_SUBGROUPS("computeFullSubgroups"),
    /** 8-bit values in storage buffers. */
    STORAGE_BUFFER_8BIT("storageBuffer8BitAccess"),
    /** 8-bit values in uniform and storage buffers. */
    UNIFORM_AND_STORAGE_BUFFER_8BIT("uniformAndStorageBuffer8BitAccess"),
    /** 8-bit push constants. */
    PUSH_CONSTANT_8("storagePushConstant8"),
    /** 16-bit values in storage buffers. */
    STORAGE_BUFFER_16BIT("storageBuffer16BitAccess"),
    /** 16-bit values in uniform and storage buffers. */
    UNIFORM_AND_STORAGE_BUFFER_16BIT("uniformAndStorageBuffer16BitAccess"),
    /** 16-bit push constants. */
    PUSH_CONSTANT_16("storagePushConstant16"),
    /** Arithmetic on 16-bit floating point. */
    SHADER_FLOAT16("shaderFloat16"),
    /** Arithmetic on 64-bit floating point. */
    SHADER_FLOAT64("shaderFloat64"),
    /** Arithmetic on 8-bit integers. */
    SHADER_INT8("shaderInt8"),
    /** Arithmetic on 16-bit integers. */
    SHADER_INT16("shaderInt16"),
    /** Arithmetic on 64-bit integers. */
    SHADER_INT64("shaderInt64"),
    /** 64-bit atomics on buffers. */
    SHADER_BUFFER_INT64_ATOMICS("shaderBufferInt64Atomics"),
    /** 64-bit atomics on shared memory. */
    SHADER_SHARED_INT64_ATOMICS("shaderSharedInt64Atomics"),
    /** Integer dot products. */
    INTEGER_DOT_PRODUCT("shaderIntegerDotProduct"),
    /** The Vulkan memory model. */
    VULKAN_MEMORY_MODEL("vulkanMemoryModel"),
    /** The Vulkan memory model with device scope. */
    VULKAN_MEMORY_MODEL_DEVICE_SCOPE("vulkanMemoryModelDeviceScope"),
    /** Pointers into a single storage buffer, chosen at run time. */
    VARIABLE_POINTERS_STORAGE_BUFFER("variablePointersStorageBuffer"),
    /** Pointers chosen at run time. */
    VARIABLE_POINTERS("variablePointers"),
    /** Matrix operations of whole subgroups. */
    COOPERATIVE_MATRIX("cooperativeMatrix"),
    /** Descriptors of storage buffers can be changed after recording. */
    STORAGE_BUFFER_UPDATE_AFTER_BIND("descriptorBindingStorageBufferUpdateAfterBind"),
    /** Descriptors of uniform buffers can be changed after recording. */
    UNIFORM_BUFFER_UPDATE_AFTER_BIND("descriptorBindingUniformBufferUpdateAfterBind"),
    /** Descriptors can be recorded into command buffers. */
    PUSH_DESCRIPTOR("VK_KHR_push_descriptor"),
    /** Buffer memory can be exported and imported as file descriptors. */
    EXTERNAL_MEMORY_FD("VK_KHR_external_memory_fd"),
    /** Host memory can be used in place. */
    EXTERNAL_MEMORY_HOST("VK_EXT_external_memory_host"),
    /** Semaphores can be exported and imported as file descriptors. */
    EXTERNAL_SEMAPHORE_FD("VK_KHR_external_semaphore_fd");

    private final String specName;

    VulkanFeature(String specName) {
        this.specName = specName;
    }

    /**
     * Returns the name of the feature or extension in the specification.
     *
     * @return for example {@code timelineSemaphore}
     */
    public String specName() {
        return specName;
    }

    /**
     * Returns the bit of the feature.
     *
     * @return a power of two
     */
    public long bit() {
        return 1L << ordinal();
    }

    /**
     * Returns whether a set of features contains this feature.
     *
     * @param bits bits of features, or-ed
     * @return true if the feature's bit is set
     */
    public boolean in(long bits) {
        return (bits & bit()) != 0;
    }

    /**
     * Returns the features of a set of bits.
     *
     * @param bits or-ed
     * @return the features known to this runtime
     */
    public static Set<VulkanFeature> of(long bits) {
        EnumSet<VulkanFeature> features = EnumSet.noneOf(VulkanFeature.class);
        for (VulkanFeature feature : values()) {
            if (feature.in(bits)) {
                features.add(feature);
            }
        }
        return features;
    }
}
