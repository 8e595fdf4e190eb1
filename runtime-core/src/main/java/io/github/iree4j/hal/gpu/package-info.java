/** Devices with a driver of CUDA or HIP, and the executables compiled for them. Executables are untrusted input. */
@NullMarked
package io.github.iree4j.hal.gpu;

import org.jspecify.annotations.NullMarked;
