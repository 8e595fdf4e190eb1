/**
 * VMASM, the text form of bytecode modules: assembler, disassembler and the writer of {@code .vmfb} files.
 *
 * <p>Entry points are {@link io.github.iree4j.vm.asm.VmAssembler} and {@link io.github.iree4j.vm.asm.VmDisassembler}.
 * The syntax is printed by IREE's disassembler and read by IREE's assembler, with additions for contents of module
 * files not expressible in IREE's syntax; {@code docs/vmasm.md} describes both. The encoding of an instruction is
 * defined by the opcode table in {@code vm.isa} alone; the spelling is defined by {@code InstructionSyntax}, used in
 * both directions. Everything here is stateless or confined to a single call.
 */
@NotForApplications
@NullMarked
package io.github.iree4j.vm.asm;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
