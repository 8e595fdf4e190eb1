/**
 * The instruction set of the VM as data: the opcodes of a bytecode version, the fields after each opcode, and a reader
 * splitting a function body into instructions.
 *
 * <p>Start at {@link io.github.iree4j.vm.isa.Isa}. Decoder, verifier, interpreter, assembler and disassembler all work
 * from these tables; opcode numbers occur nowhere else. Everything here is immutable and safe to share, except the
 * reader: a reader belongs to one thread.
 */
@NullMarked
package io.github.iree4j.vm.isa;

import org.jspecify.annotations.NullMarked;
