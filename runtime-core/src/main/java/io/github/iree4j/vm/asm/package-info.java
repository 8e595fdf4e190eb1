/**
 * VMASM, the text form of bytecode modules: assembler, disassembler and the writer of {@code .vmfb} files.
 *
 * <p>Entry points are {@link io.github.iree4j.vm.asm.VmAssembler} and {@link io.github.iree4j.vm.asm.VmDisassembler}. The syntax is what
 * IREE's disassembler prints and its assembler reads, with additions for what a module file can hold and that text cannot express; {@code
 * docs/vmasm.md} describes both. The encoding of an instruction is defined by the opcode table in {@code vm.isa} alone; its spelling by
 * {@code InstructionSyntax}, which both directions use. Everything here is stateless or confined to one call.
 */
@NullMarked
package io.github.iree4j.vm.asm;

import org.jspecify.annotations.NullMarked;
