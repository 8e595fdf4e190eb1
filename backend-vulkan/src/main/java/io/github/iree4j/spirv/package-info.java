/**
 * SPIR-V: modules of compute shaders, and the executables containing modules. Both are untrusted input.
 *
 * <p>Checks are structural: completeness of a module, device requirements, and the buffers and constants used by entry
 * points. Function bodies are not checked: SPIR-V that passes is native code, trusted like compiled code for a
 * CPU.
 */
@NullMarked
package io.github.iree4j.spirv;

import org.jspecify.annotations.NullMarked;
