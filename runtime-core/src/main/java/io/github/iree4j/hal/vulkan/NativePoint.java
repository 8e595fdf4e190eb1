package io.github.iree4j.hal.vulkan;

import io.github.iree4j.nativeaccess.VulkanTimeline;

/**
 * A value of a native timeline that submissions can wait for.
 *
 * @param device the device whose submissions can wait for it
 * @param timeline the timeline
 * @param value the value
 */
record NativePoint(VulkanDevice device, VulkanTimeline timeline, long value) {}
