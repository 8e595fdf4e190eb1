/**
 * Devices with a Vulkan driver.
 *
 * <p>Start at {@link io.github.iree4j.hal.vulkan.VulkanDriverProvider}. Inside: a {@code HardwareStream} puts what the scheduler issues on a
 * hardware queue, {@code CompletionWaiter} hears how far the hardware is. {@code docs/decisions/0015-vulkan.md} says how and why.
 */
@NullMarked
package io.github.iree4j.hal.vulkan;

import org.jspecify.annotations.NullMarked;
