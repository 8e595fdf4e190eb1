package io.github.iree4j.nativeaccess.vulkan;

import java.util.List;
import java.util.Set;

/**
 * Options for opening a Vulkan device.
 *
 * @param queueFamilies the family of each queue to open; the n-th mention of a family is the family's n-th queue
 * @param withoutFeatures features of the device to leave disabled, to test the fallbacks; the two required features
 *     cannot be disabled
 */
public record VulkanDeviceRequest(List<Integer> queueFamilies, Set<VulkanFeature> withoutFeatures) {
    /** Copies the collections. */
    public VulkanDeviceRequest {
        queueFamilies = List.copyOf(queueFamilies);
        withoutFeatures = Set.copyOf(withoutFeatures);
    }

    /**
     * Requests some queues, with all features of the device.
     *
     * @param queueFamilies the family of each queue
     * @return the request
     */
    public static VulkanDeviceRequest of(List<Integer> queueFamilies) {
        return new VulkanDeviceRequest(queueFamilies, Set.of());
    }

    long featureBits() {
        return withoutFeatures.stream().mapToLong(VulkanFeature::bit).reduce(-1L, (all, bit) -> all & ~bit);
    }
}
