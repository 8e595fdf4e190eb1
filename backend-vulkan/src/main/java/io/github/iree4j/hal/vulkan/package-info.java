/**
 * Devices with a Vulkan driver.
 *
 * <p>Start at {@link io.github.iree4j.hal.vulkan.VulkanDriverProvider}. Inside: a {@code HardwareStream} submits issued
 * operations to a hardware queue, a {@code CompletionWaiter} observes the progress of the hardware.
 * {@code docs/decisions/0015-vulkan.md} records the design.
 */
@NullMarked
package io.github.iree4j.hal.vulkan;

import org.jspecify.annotations.NullMarked;
