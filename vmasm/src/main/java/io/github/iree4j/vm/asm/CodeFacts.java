package io.github.iree4j.vm.asm;

import io.github.iree4j.vm.isa.Field;
import io.github.iree4j.vm.isa.FieldKind;
import io.github.iree4j.vm.isa.InstructionReader;
import io.github.iree4j.vm.isa.Isa;
import io.github.iree4j.vm.isa.Op;
import io.github.iree4j.vm.isa.Opcode;
import io.github.iree4j.vm.isa.RegisterEncoding;
import io.github.iree4j.vm.isa.RegisterType;
import java.util.List;

/**
 * Facts derived from a function's code: the number of registers and blocks, the requirements, the extent of the
 * module's state. The assembler uses these facts where the text is silent, and the disassembler prints only deviations.
 */
final class CodeFacts {

    private final List<String> functionConventions;
    private final List<String> importConventions;
    private int words;
    private int refs;
    private int blocks;
    private int requirements;
    private long globalBytes;
    private long globalRefs;

    private CodeFacts(List<String> functionConventions, List<String> importConventions) {
        this.functionConventions = functionConventions;
        this.importConventions = importConventions;
    }

    /**
     * Reads a function's code.
     *
     * @param isa the version of the code
     * @param body the code
     * @param convention the function's calling convention
     * @param functionConventions conventions of the module's functions, for calls
     * @param importConventions conventions of the module's imports, for calls
     */
    static CodeFacts of(
            Isa isa, byte[] body, String convention, List<String> functionConventions, List<String> importConventions) {
        CodeFacts facts = new CodeFacts(functionConventions, importConventions);
        facts.arguments(Conventions.arguments(convention));
        InstructionReader reader = InstructionReader.verbatim(isa, body);
        while (reader.next()) {
            facts.instruction(reader, convention);
        }
        return facts;
    }

    int words() {
        return words;
    }

    int refs() {
        return refs;
    }

    int blocks() {
        return blocks;
    }

    int requirements() {
        return requirements;
    }

    long globalBytes() {
        return globalBytes;
    }

    long globalRefs() {
        return globalRefs;
    }

    private void arguments(String letters) {
        int word = 0;
        for (char letter : letters.toCharArray()) {
            if (letter == 'r') {
                refs++;
            } else if (Conventions.isWide(letter)) {
                word = (word + 1 & -2) + 2;
            } else {
                word++;
            }
        }
        words = Math.max(words, word);
    }

    private void instruction(InstructionReader reader, String convention) {
        Opcode opcode = reader.opcode();
        requirements |= opcode.set().requirement();
        if (opcode.isBlock()) {
            blocks++;
        }
        String arguments = "";
        String results = "";
        for (int i = 0; i < opcode.fields().size(); i++) {
            Field field = opcode.fields().get(i);
            switch (field.kind()) {
                case REGISTER -> register(reader.register(i), field.type().isWide());
                case FUNCTION -> {
                    String callee = convention(reader.i32(i));
                    arguments = Conventions.arguments(callee);
                    results = Conventions.results(callee);
                }
                case SEGMENTS -> arguments = Conventions.expand(arguments, reader, i);
                case OPERANDS -> {
                    String letters = opcode.op() == Op.RETURN ? Conventions.results(convention) : arguments;
                    list(reader, i, letters, field.type());
                }
                case RESULTS -> list(reader, i, results, field.type());
                case REMAP -> {
                    for (int j = 0; j < reader.count(i); j++) {
                        register(reader.source(i, j), false);
                        register(reader.destination(i, j), false);
                    }
                }
                case CASES -> {
                    for (int j = 0; j < reader.count(i); j++) {
                        for (int k = 0; k < reader.caseCount(j); k++) {
                            register(reader.caseSource(j, k), false);
                            register(reader.caseDestination(j, k), false);
                        }
                    }
                }
                case GLOBAL_OFFSET ->
                    globalBytes = Math.max(globalBytes, Integer.toUnsignedLong(reader.i32(i)) + globalSize(opcode));
                case GLOBAL_REF -> globalRefs = Math.max(globalRefs, Integer.toUnsignedLong(reader.i32(i)) + 1);
                default -> {}
            }
        }
    }

    /** Returns the size in bytes of the global loaded or stored by an instruction: the size of the instruction's register. */
    static int globalSize(Opcode opcode) {
        for (Field field : opcode.fields()) {
            if (field.kind() == FieldKind.REGISTER) {
                return field.type().isWide() ? 8 : 4;
            }
        }
        return 0;
    }

    private String convention(int function) {
        boolean isImport = (function & FieldKind.IMPORT_BIT) != 0;
        List<String> table = isImport ? importConventions : functionConventions;
        int ordinal = function & ~FieldKind.IMPORT_BIT;
        return ordinal < table.size() ? table.get(ordinal) : "";
    }

    private void list(InstructionReader reader, int field, String letters, RegisterType type) {
        for (int i = 0; i < reader.count(field); i++) {
            boolean wide = type.isWide() || (i < letters.length() && Conventions.isWide(letters.charAt(i)));
            register(reader.item(field, i), wide);
        }
    }

    private void register(int encoded, boolean wide) {
        int ordinal = RegisterEncoding.ordinal(encoded);
        if (RegisterEncoding.isRef(encoded)) {
            refs = Math.max(refs, ordinal + 1);
        } else {
            words = Math.max(words, ordinal + (wide ? 2 : 1));
        }
    }
}
