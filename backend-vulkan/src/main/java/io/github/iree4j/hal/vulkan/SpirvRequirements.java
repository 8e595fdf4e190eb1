package io.github.iree4j.hal.vulkan;

import io.github.iree4j.nativeaccess.vulkan.VulkanDeviceProperties;
import io.github.iree4j.nativeaccess.vulkan.VulkanFeature;
import io.github.iree4j.nativeaccess.vulkan.VulkanHandle;
import io.github.iree4j.nativeaccess.vulkan.VulkanLimits;
import io.github.iree4j.spirv.SpirvEntryPoint;
import io.github.iree4j.spirv.SpirvLayout;
import io.github.iree4j.spirv.SpirvLayout.SpirvBinding;
import io.github.iree4j.spirv.SpirvModule;
import io.github.iree4j.spirv.SpirvResource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.Set;

/**
 * Checks whether a device meets a module's requirements, before the driver sees the module: drivers need not check.
 *
 * <p>A passing module is trusted: function bodies are native code, like compiled code for a CPU.
 */
final class SpirvRequirements {
    private static final int VERSION_1_2 = 1 << 22 | 2 << 12;
    private static final int VERSION_1_3 = 1 << 22 | 3 << 12;

    /** Extensions with instructions covered by checked capabilities, or without requirements for devices. */
    private static final Set<String> EXTENSIONS = Set.of(
            "SPV_KHR_storage_buffer_storage_class",
            "SPV_KHR_16bit_storage",
            "SPV_KHR_8bit_storage",
            "SPV_KHR_variable_pointers",
            "SPV_KHR_vulkan_memory_model",
            "SPV_KHR_physical_storage_buffer",
            "SPV_EXT_physical_storage_buffer",
            "SPV_KHR_integer_dot_product",
            "SPV_KHR_cooperative_matrix",
            "SPV_KHR_no_integer_wrap_decoration",
            "SPV_KHR_non_semantic_info",
            "SPV_GOOGLE_decorate_string",
            "SPV_GOOGLE_hlsl_functionality1",
            "SPV_GOOGLE_user_type");

    private SpirvRequirements() {}

    /**
     * Checks the requirements of a module.
     *
     * @throws IreeException INCOMPATIBLE naming the version, capability or extension, and the feature missing in the
     *     device
     */
    static void check(VulkanHandle handle, SpirvModule module) {
        VulkanDeviceProperties device = handle.properties();
        int newest = device.apiVersion() >= VERSION_1_3
                ? 0x1_0600
                : device.apiVersion() >= VERSION_1_2 ? 0x1_0500 : 0x1_0300;
        if (module.version() > newest) {
            throw incompatible(
                    device,
                    "has Vulkan %s, which takes SPIR-V up to 1.%d; the module is of 1.%d",
                    device.apiVersionText(),
                    newest >>> 8 & 0xFF,
                    module.version() >>> 8 & 0xFF);
        }
        for (int number : module.capabilities().stream().sorted().toList()) {
            SpirvCapability capability = SpirvCapability.of(number);
            if (capability == null) {
                throw incompatible(
                        device,
                        "cannot be asked for capability %d of the module: this runtime does not know it",
                        number);
            }
            if (!capability.isIn(handle.features())) {
                throw incompatible(
                        device,
                        "lacks feature '%s', which capability %s of the module needs",
                        capability.missing(),
                        capability.specName());
            }
        }
        for (String extension : module.extensions().stream().sorted().toList()) {
            if (!EXTENSIONS.contains(extension)) {
                String shown = extension.replaceAll("[^ -~]", "?");
                throw incompatible(
                        device,
                        "cannot be asked for extension '%s' of the module: this runtime does not know it",
                        shown.length() > 64 ? shown.substring(0, 64) + "..." : shown);
            }
        }
    }

    /**
     * Checks the requirements of an export.
     *
     * @param name of the export
     * @param subgroupSize the subgroup size of the compiled code; 0 for any
     * @throws IreeException INCOMPATIBLE for missing features; OUT_OF_RANGE for exceeded limits; INVALID_ARGUMENT when
     *     code and layout do not fit
     */
    static void check(
            VulkanHandle handle,
            String name,
            SpirvEntryPoint entry,
            SpirvLayout layout,
            boolean byAddress,
            int subgroupSize) {
        VulkanDeviceProperties device = handle.properties();
        VulkanLimits limits = device.limits();
        if (entry.foreignResource() != null) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "export '%s' uses %s; buffers alone can be bound".formatted(name, entry.foreignResource()));
        }
        if (entry.sizedById()) {
            throw incompatible(
                    device,
                    "is opened without feature 'maintenance4', which execution mode LocalSizeId of export '%s' needs; compile for SPIR-V 1.5 or older",
                    name);
        }
        if (byAddress && !handle.has(VulkanFeature.BUFFER_DEVICE_ADDRESS)) {
            throw incompatible(
                    device,
                    "lacks feature '%s', which export '%s' needs",
                    VulkanFeature.BUFFER_DEVICE_ADDRESS.specName(),
                    name);
        }
        checkWorkgroup(device, limits, name, entry);
        if (subgroupSize != 0) {
            checkSubgroup(handle, limits, name, subgroupSize);
        }
        checkLimit(device, name, "bytes of push constants", layout.pushConstantBytes(), limits.maxPushConstantsSize());
        checkLimit(device, name, "descriptor sets", layout.sets().size(), limits.maxBoundDescriptorSets());
        checkLimit(device, name, "buffers", layout.bufferCount(), limits.maxPerStageDescriptorStorageBuffers());
        if (entry.pushConstantBytes() > layout.pushConstantBytes()) {
            throw invalid(
                    "export '%s' reads %d bytes of push constants, its layout has %d",
                    name, entry.pushConstantBytes(), layout.pushConstantBytes());
        }
        for (SpirvResource resource : entry.resources()) {
            checkResource(name, resource, layout);
        }
    }

    private static void checkWorkgroup(
            VulkanDeviceProperties device, VulkanLimits limits, String name, SpirvEntryPoint entry) {
        checkLimit(
                device,
                name,
                "invocations of a workgroup along x",
                entry.workgroupSizeX(),
                limits.maxComputeWorkGroupSizeX());
        checkLimit(
                device,
                name,
                "invocations of a workgroup along y",
                entry.workgroupSizeY(),
                limits.maxComputeWorkGroupSizeY());
        checkLimit(
                device,
                name,
                "invocations of a workgroup along z",
                entry.workgroupSizeZ(),
                limits.maxComputeWorkGroupSizeZ());
        // Each size is within the device's limit, far below 2^21.
        long invocations = (long) entry.workgroupSizeX() * entry.workgroupSizeY() * entry.workgroupSizeZ();
        checkLimit(device, name, "invocations of a workgroup", invocations, limits.maxComputeWorkGroupInvocations());
        checkLimit(
                device, name, "bytes of workgroup memory", entry.workgroupBytes(), limits.maxComputeSharedMemorySize());
    }

    private static void checkSubgroup(VulkanHandle handle, VulkanLimits limits, String name, int subgroupSize) {
        VulkanDeviceProperties device = handle.properties();
        if (!handle.has(VulkanFeature.SUBGROUP_SIZE_CONTROL)) {
            if (subgroupSize == limits.subgroupSize()) {
                return; // the device has no other size
            }
            throw incompatible(
                    device,
                    "lacks feature '%s', which export '%s' needs for subgroups of %s",
                    VulkanFeature.SUBGROUP_SIZE_CONTROL.specName(),
                    name,
                    Integer.toUnsignedString(subgroupSize));
        }
        if (subgroupSize < limits.minSubgroupSize()
                || subgroupSize > limits.maxSubgroupSize()
                || Integer.bitCount(subgroupSize) != 1) {
            throw incompatible(
                    device,
                    "has subgroups of %d to %d, export '%s' needs %s",
                    limits.minSubgroupSize(),
                    limits.maxSubgroupSize(),
                    name,
                    Integer.toUnsignedString(subgroupSize));
        }
    }

    private static void checkResource(String name, SpirvResource resource, SpirvLayout layout) {
        List<SpirvBinding> set =
                resource.set() < layout.sets().size() ? layout.sets().get(resource.set()) : List.of();
        for (SpirvBinding binding : set) {
            if (binding.binding() != resource.binding()) {
                continue;
            }
            if (binding.type() != resource.type()) {
                throw invalid(
                        "export '%s' uses binding %d of set %d as a %s buffer, its layout has a %s buffer there",
                        name, binding.binding(), resource.set(), kind(resource.type()), kind(binding.type()));
            }
            if (binding.count() < resource.count()) {
                throw invalid(
                        "export '%s' uses %d buffers of binding %d of set %d, its layout has %d",
                        name, resource.count(), binding.binding(), resource.set(), binding.count());
            }
            return;
        }
        throw invalid(
                "export '%s' uses binding %d of set %d, which its layout does not have",
                name, resource.binding(), resource.set());
    }

    private static String kind(int type) {
        return type == SpirvResource.UNIFORM_BUFFER ? "uniform" : "storage";
    }

    private static void checkLimit(VulkanDeviceProperties device, String name, String what, long value, long limit) {
        if (value > limit) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "export '%s' has %d %s, the limit of device '%s' is %d"
                            .formatted(name, value, what, device.name(), limit));
        }
    }

    private static IreeException invalid(String format, Object... arguments) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, format.formatted(arguments));
    }

    private static IreeException incompatible(VulkanDeviceProperties device, String format, Object... arguments) {
        return IreeException.of(
                StatusCode.INCOMPATIBLE, "device '%s' %s".formatted(device.name(), format.formatted(arguments)));
    }
}
