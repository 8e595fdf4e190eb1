/**
 * Modules of bytecode: reading the container, verification, and execution.
 *
 * <p>Start at {@link io.github.iree4j.vm.bytecode.BytecodeModule}. A file is untrusted: every offset, count and operand
 * is checked before use, and work and memory are bounded by the file's size and by
 * {@link io.github.iree4j.vm.bytecode.ModuleLimits}. Functions are verified and translated once, when the module is
 * read; contexts share the result. Modules are safe to share between threads.
 */
@NullMarked
package io.github.iree4j.vm.bytecode;

import org.jspecify.annotations.NullMarked;
