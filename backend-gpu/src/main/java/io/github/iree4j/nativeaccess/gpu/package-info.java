/**
 * The native methods for CUDA and HIP. Start at {@link io.github.iree4j.nativeaccess.gpu.GpuApi}. The C side is in
 * {@code native-shim/src/gpu}, with the contract {@code native-shim/include/shim_gpu.h}. All types are safe for use from any
 * thread unless documented otherwise.
 */
@NullMarked
package io.github.iree4j.nativeaccess.gpu;

import org.jspecify.annotations.NullMarked;
