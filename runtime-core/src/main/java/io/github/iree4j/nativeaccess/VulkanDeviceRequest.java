package io.github.iree4j.nativeaccess;

import java.util.List;
import java.util.Set;

/**
 * How a Vulkan device is opened.
 *
 * @param queueFamilies the family of each queue to open; the n-th mention of a family is its n-th queue
 * @param withoutFeatures features that are left off though the device has them, to try what is done without; the two that are needed
 *     cannot be left off
 */
public record VulkanDeviceRequest(List<Integer> queueFamilies, Set<VulkanFeature> withoutFeatures) {
    /** Copies. */
    public VulkanDeviceRequest {
        queueFamilies = List.copyOf(queueFamilies);
        withoutFeatures = Set.copyOf(withoutFeatures);
    }

    /**
     * Opens some queues, with all features the device has.
     *
     * @param queueFamilies the family of each
     * @return the request
     */
    public static VulkanDeviceRequest of(List<Integer> queueFamilies) {
        return new VulkanDeviceRequest(queueFamilies, Set.of());
    }

    long featureBits() {
        return withoutFeatures.stream().mapToLong(VulkanFeature::bit).reduce(-1L, (all, bit) -> all & ~bit);
    }
}
