/**
 * SPIR-V: modules of compute shaders, and the executables that carry them. Both are read without trust.
 *
 * <p>What is checked is structure: that a module is whole, what it needs of a device, and which buffers and constants its entry points use. The
 * body of a function is not: SPIR-V that passes is native code, and is trusted as compiled code for a CPU is.
 */
@NullMarked
package io.github.iree4j.spirv;

import org.jspecify.annotations.NullMarked;
