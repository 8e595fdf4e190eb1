/**
 * SPIR-V: modules of compute shaders, and the executables that carry them. Both are untrusted input.
 *
 * <p>Checks are structural: that a module is complete, its device requirements, and the buffers and constants that its entry
 * points use. Function bodies are not checked: SPIR-V that passes is native code, trusted like compiled code for a CPU.
 */
@NullMarked
package io.github.iree4j.spirv;

import org.jspecify.annotations.NullMarked;
