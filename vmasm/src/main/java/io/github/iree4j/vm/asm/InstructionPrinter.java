package io.github.iree4j.vm.asm;

import io.github.iree4j.vm.asm.InstructionSyntax.Literal;
import io.github.iree4j.vm.asm.InstructionSyntax.Operand;
import io.github.iree4j.vm.asm.InstructionSyntax.Piece;
import io.github.iree4j.vm.bytecode.ModuleDef;
import io.github.iree4j.vm.bytecode.ModuleDef.Import;
import io.github.iree4j.vm.isa.Field;
import io.github.iree4j.vm.isa.FieldKind;
import io.github.iree4j.vm.isa.InstructionReader;
import io.github.iree4j.vm.isa.Isa;
import io.github.iree4j.vm.isa.RegisterEncoding;
import io.github.iree4j.vm.isa.RegisterType;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntConsumer;

/** Prints the bodies of functions. */
final class InstructionPrinter {

    private final Isa isa;
    private final Map<String, InstructionSyntax> syntax;
    private final ModuleDef module;
    private final boolean offsets;

    InstructionPrinter(Isa isa, ModuleDef module, boolean offsets) {
        this.isa = isa;
        this.syntax = InstructionSyntax.of(isa);
        this.module = module;
        this.offsets = offsets;
    }

    /** Appends the lines of a body, with blocks named {@code ^bb0}, {@code ^bb1} in order. */
    void print(byte[] body, StringBuilder out) {
        Map<Integer, Integer> blocks = new HashMap<>();
        InstructionReader reader = InstructionReader.verbatim(isa, body);
        while (reader.next()) {
            if (reader.opcode().isBlock()) {
                blocks.put(reader.offset(), blocks.size());
            }
        }
        reader.seek(0);
        while (reader.next()) {
            if (offsets) {
                out.append("[%08X]".formatted(reader.offset()));
            }
            if (reader.opcode().isBlock()) {
                out.append("^bb").append(blocks.get(reader.offset())).append(":\n");
            } else {
                out.append("  ");
                new Line(reader, body, blocks, out).print();
                out.append('\n');
            }
        }
    }

    /** An instruction being printed. */
    private final class Line {
        private final InstructionReader reader;
        private final byte[] body;
        private final Map<Integer, Integer> blocks;
        private final StringBuilder out;

        Line(InstructionReader reader, byte[] body, Map<Integer, Integer> blocks, StringBuilder out) {
            this.reader = reader;
            this.body = body;
            this.blocks = blocks;
            this.out = out;
        }

        void print() {
            InstructionSyntax form =
                    Objects.requireNonNull(syntax.get(reader.opcode().mnemonic()));
            int start = out.length();
            for (int field : form.results()) {
                operand(form, field);
            }
            if (out.length() > start) {
                out.append(" = ");
            }
            out.append("vm.").append(reader.opcode().mnemonic());
            int operands = out.length();
            out.append(' ');
            for (Piece piece : form.pieces()) {
                switch (piece) {
                    case Literal literal -> out.append(literal.text());
                    case Operand operand -> operand(form, operand.field());
                }
            }
            if (out.length() == operands + 1) {
                out.setLength(operands);
            }
            comment();
        }

        private void operand(InstructionSyntax form, int index) {
            Field field = form.field(index);
            switch (field.kind()) {
                case REGISTER -> register(reader.register(index), field.type());
                case CONST_I32 -> out.append(reader.i32(index));
                case CONST_I64 -> out.append(reader.i64(index));
                case CONST_F32 -> out.append(FloatLiterals.formatF32(reader.i32(index)));
                case CONST_F64 -> out.append(FloatLiterals.formatF64(reader.i64(index)));
                case GLOBAL_OFFSET ->
                    out.append(".rwdata[").append(unsigned(index)).append(']');
                case GLOBAL_REF -> out.append(".refs[").append(unsigned(index)).append(']');
                case RODATA -> out.append(unsigned(index));
                case FUNCTION -> function(reader.i32(index));
                case TYPE -> out.append(TextForms.typeReference(module.types(), reader.i32(index)));
                case STRING -> {
                    int at = reader.offset(index);
                    out.append(TextForms.quote(Arrays.copyOfRange(body, at, at + reader.count(index))));
                }
                case OPERANDS, RESULTS ->
                    list(reader.count(index), i -> register(reader.item(index, i), RegisterType.ANY));
                case SEGMENTS -> list(reader.count(index), i -> out.append(reader.item(index, i)));
                case TARGET -> {
                    block(reader.i32(index));
                    int remap = index + 1;
                    if (remap < reader.opcode().fields().size() && form.isRemapOf(remap)) {
                        out.append('(');
                        list(reader.count(remap), i -> copy(reader.source(remap, i), reader.destination(remap, i)));
                        out.append(')');
                    }
                }
                case CASES -> {
                    for (int i = 0; i < reader.count(index); i++) {
                        int branch = i;
                        out.append(", ").append(i).append(": ");
                        block(reader.caseTarget(i));
                        out.append('(');
                        list(
                                reader.caseCount(i),
                                j -> copy(reader.caseSource(branch, j), reader.caseDestination(branch, j)));
                        out.append(')');
                    }
                }
                case REMAP -> throw new AssertionError("a remap is printed with its target");
            }
        }

        private String unsigned(int field) {
            return Integer.toUnsignedString(reader.i32(field));
        }

        private void list(int count, IntConsumer item) {
            for (int i = 0; i < count; i++) {
                if (i > 0) {
                    out.append(", ");
                }
                item.accept(i);
            }
        }

        private void copy(int source, int destination) {
            register(source, RegisterType.ANY);
            out.append("->");
            register(destination, RegisterType.ANY);
        }

        private void register(int encoded, RegisterType type) {
            int ordinal = RegisterEncoding.ordinal(encoded);
            if (RegisterEncoding.isRef(encoded)) {
                out.append(RegisterEncoding.isMove(encoded) ? "%R" : "%r").append(ordinal);
            } else {
                out.append("%i").append(ordinal);
                if (type.isWide()) {
                    out.append(':').append(ordinal + 1);
                }
            }
        }

        private void block(int offset) {
            Integer block = blocks.get(offset);
            // An unverified module may branch anywhere; then the text has the offset.
            out.append(block == null ? "^\"0x%x\"".formatted(offset) : "^bb" + block);
        }

        private void function(int function) {
            int ordinal = function & ~FieldKind.IMPORT_BIT;
            if (function == ordinal) {
                out.append(TextForms.symbol('@', module.name())).append(':').append(ordinal);
                return;
            }
            String name = ordinal < module.imports().size()
                    ? module.imports().get(ordinal).fullName()
                    : "";
            boolean isUnique = !name.isEmpty()
                    && module.imports().stream()
                                    .map(Import::fullName)
                                    .filter(name::equals)
                                    .count()
                            == 1;
            out.append(isUnique ? TextForms.symbol('@', name) : "@import:" + ordinal);
        }

        /** Appends the comment added by IREE's disassembler for the reader. */
        private void comment() {
            for (int i = 0; i < reader.opcode().fields().size(); i++) {
                switch (reader.opcode().fields().get(i).kind()) {
                    case CONST_I32 -> out.append("  // 0x%08X".formatted(reader.i32(i)));
                    case CONST_I64 -> out.append("  // 0x%016X".formatted(reader.i64(i)));
                    case RODATA -> {
                        int ordinal = reader.i32(i);
                        if (ordinal >= 0 && ordinal < module.rodata().size()) {
                            out.append("  // ")
                                    .append(module.rodata().get(ordinal).bytes().byteSize())
                                    .append('b');
                        }
                    }
                    default -> {}
                }
            }
        }
    }
}
