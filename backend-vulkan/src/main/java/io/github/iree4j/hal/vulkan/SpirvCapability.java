package io.github.iree4j.hal.vulkan;

import io.github.iree4j.nativeaccess.vulkan.VulkanFeature;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Capabilities declared by modules, and the required device features ("SPIR-V Environment" of the Vulkan specification). */
enum SpirvCapability {
    MATRIX(0, "Matrix"),
    SHADER(1, "Shader"),
    FLOAT16(9, "Float16", VulkanFeature.SHADER_FLOAT16),
    FLOAT64(10, "Float64", VulkanFeature.SHADER_FLOAT64),
    INT64(11, "Int64", VulkanFeature.SHADER_INT64),
    INT64_ATOMICS(
            12, "Int64Atomics", VulkanFeature.SHADER_BUFFER_INT64_ATOMICS, VulkanFeature.SHADER_SHARED_INT64_ATOMICS),
    INT16(22, "Int16", VulkanFeature.SHADER_INT16),
    INT8(39, "Int8", VulkanFeature.SHADER_INT8),
    GROUP_NON_UNIFORM(61, "GroupNonUniform"),
    GROUP_NON_UNIFORM_VOTE(62, "GroupNonUniformVote"),
    GROUP_NON_UNIFORM_ARITHMETIC(63, "GroupNonUniformArithmetic"),
    GROUP_NON_UNIFORM_BALLOT(64, "GroupNonUniformBallot"),
    GROUP_NON_UNIFORM_SHUFFLE(65, "GroupNonUniformShuffle"),
    GROUP_NON_UNIFORM_SHUFFLE_RELATIVE(66, "GroupNonUniformShuffleRelative"),
    GROUP_NON_UNIFORM_CLUSTERED(67, "GroupNonUniformClustered"),
    GROUP_NON_UNIFORM_QUAD(68, "GroupNonUniformQuad"),
    STORAGE_BUFFER_16BIT(4433, "StorageBuffer16BitAccess", VulkanFeature.STORAGE_BUFFER_16BIT),
    UNIFORM_AND_STORAGE_BUFFER_16BIT(
            4434, "UniformAndStorageBuffer16BitAccess", VulkanFeature.UNIFORM_AND_STORAGE_BUFFER_16BIT),
    STORAGE_PUSH_CONSTANT_16(4435, "StoragePushConstant16", VulkanFeature.PUSH_CONSTANT_16),
    VARIABLE_POINTERS_STORAGE_BUFFER(
            4441, "VariablePointersStorageBuffer", VulkanFeature.VARIABLE_POINTERS_STORAGE_BUFFER),
    VARIABLE_POINTERS(4442, "VariablePointers", VulkanFeature.VARIABLE_POINTERS),
    STORAGE_BUFFER_8BIT(4448, "StorageBuffer8BitAccess", VulkanFeature.STORAGE_BUFFER_8BIT),
    UNIFORM_AND_STORAGE_BUFFER_8BIT(
            4449, "UniformAndStorageBuffer8BitAccess", VulkanFeature.UNIFORM_AND_STORAGE_BUFFER_8BIT),
    STORAGE_PUSH_CONSTANT_8(4450, "StoragePushConstant8", VulkanFeature.PUSH_CONSTANT_8),
    VULKAN_MEMORY_MODEL(5345, "VulkanMemoryModel", VulkanFeature.VULKAN_MEMORY_MODEL),
    VULKAN_MEMORY_MODEL_DEVICE_SCOPE(
            5346, "VulkanMemoryModelDeviceScope", VulkanFeature.VULKAN_MEMORY_MODEL_DEVICE_SCOPE),
    PHYSICAL_STORAGE_BUFFER_ADDRESSES(5347, "PhysicalStorageBufferAddresses", VulkanFeature.BUFFER_DEVICE_ADDRESS),
    DOT_PRODUCT_INPUT_ALL(6016, "DotProductInputAll", VulkanFeature.INTEGER_DOT_PRODUCT),
    DOT_PRODUCT_INPUT_4X8_BIT(6017, "DotProductInput4x8Bit", VulkanFeature.INTEGER_DOT_PRODUCT),
    DOT_PRODUCT_INPUT_4X8_BIT_PACKED(6018, "DotProductInput4x8BitPacked", VulkanFeature.INTEGER_DOT_PRODUCT),
    DOT_PRODUCT(6019, "DotProduct", VulkanFeature.INTEGER_DOT_PRODUCT),
    COOPERATIVE_MATRIX(6022, "CooperativeMatrixKHR", VulkanFeature.COOPERATIVE_MATRIX);

    private static final Map<Integer, SpirvCapability> BY_NUMBER =
            Arrays.stream(values()).collect(Collectors.toMap(each -> each.number, Function.identity()));

    private final int number;
    private final String specName;
    private final List<VulkanFeature> alternatives; // any of these suffices

    SpirvCapability(int number, String specName, VulkanFeature... alternatives) {
        this.number = number;
        this.specName = specName;
        this.alternatives = List.of(alternatives);
    }

    static @Nullable SpirvCapability of(int number) {
        return BY_NUMBER.get(number);
    }

    String specName() {
        return specName;
    }

    boolean isIn(long features) {
        return alternatives.isEmpty() || alternatives.stream().anyMatch(each -> each.in(features));
    }

    /** Returns the names of the alternatives, for a device without any alternative. */
    String missing() {
        return alternatives.stream().map(VulkanFeature::specName).collect(Collectors.joining(" or "));
    }
}
