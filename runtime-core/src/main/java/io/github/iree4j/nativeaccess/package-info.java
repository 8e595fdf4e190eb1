/**
 * The one door to native code: every {@code native} method, loading of the shim library, decoding of its errors.
 *
 * <p>Start at {@link io.github.iree4j.nativeaccess.NativeLibrary}, which says whether native code can be used and, if not, why and
 * what to do. {@link io.github.iree4j.nativeaccess.CpuLibrary} runs compiled CPU kernels;
 * {@link io.github.iree4j.nativeaccess.CompletionRing} is how drivers' threads report to Java;
 * {@link io.github.iree4j.nativeaccess.VulkanApi} is Vulkan. The C side is {@code native-shim/},
 * its contract {@code native-shim/include/shim.h}.
 *
 * <p>All types are safe for use from any thread, virtual ones included, unless they say otherwise. Not exported: users of the
 * runtime meet native code only through the HAL.
 */
@NullMarked
package io.github.iree4j.nativeaccess;

import org.jspecify.annotations.NullMarked;
