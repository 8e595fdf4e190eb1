/**
 * The native methods for Vulkan. Start at {@link io.github.iree4j.nativeaccess.vulkan.VulkanApi}. The C side is in
 * {@code native-shim/src/vulkan}, with the contract {@code native-shim/include/shim_vulkan.h}. All types are safe for use from
 * any thread unless documented otherwise.
 */
@NullMarked
package io.github.iree4j.nativeaccess.vulkan;

import org.jspecify.annotations.NullMarked;
