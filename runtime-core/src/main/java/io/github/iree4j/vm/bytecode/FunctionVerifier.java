package io.github.iree4j.vm.bytecode;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.CallingConvention;
import io.github.iree4j.vm.isa.FeatureBits;
import io.github.iree4j.vm.isa.Field;
import io.github.iree4j.vm.isa.FieldKind;
import io.github.iree4j.vm.isa.InstructionReader;
import io.github.iree4j.vm.isa.Isa;
import io.github.iree4j.vm.isa.Op;
import io.github.iree4j.vm.isa.Opcode;
import io.github.iree4j.vm.isa.RegisterEncoding;
import io.github.iree4j.vm.isa.RegisterType;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Checks a function, since the interpreter performs none of these checks: blocks and branch targets, every register's
 * bank, bound, parity and MOVE bit, every ordinal and offset, and the agreement of calls with their callees. One pass,
 * linear in the code.
 *
 * <p>Goes further than IREE's verifier, where registers at fixed positions and type ids are unchecked.
 */
final class FunctionVerifier {
    private static final byte BLOCK = 1;
    private static final byte TARGET = 2;
    private static final int I32_BYTES = 4;
    private static final int I64_BYTES = 8;

    private final ModuleDef module;
    private final List<CallingConvention> conventions;
    private final List<CallingConvention> importConventions;
    private final ModuleDef.Function function;
    private final CallingConvention convention;
    private final RegisterCounts registers;
    private final Isa isa;
    private final InstructionReader reader;
    private final byte[] marks;
    private final @Nullable Consumer<IreeException> findings;
    private boolean unreadable;

    private FunctionVerifier(
            ModuleDef module,
            List<CallingConvention> conventions,
            List<CallingConvention> importConventions,
            int ordinal,
            Isa isa,
            byte[] body,
            @Nullable Consumer<IreeException> findings) {
        this.findings = findings;
        this.module = module;
        this.conventions = conventions;
        this.importConventions = importConventions;
        function = module.functions().get(ordinal);
        convention = conventions.get(ordinal);
        registers = RegisterCounts.of(function, convention);
        this.isa = isa;
        reader = new InstructionReader(isa, body);
        marks = new byte[body.length];
    }

    /**
     * Checks a function.
     *
     * @param module the module of the function
     * @param conventions calling conventions of all functions
     * @param importConventions calling conventions of all imports
     * @param ordinal the number of the function
     * @param isa the version of the code
     * @param body the code
     * @throws IreeException INVALID_ARGUMENT or INCOMPATIBLE, naming offset, operand, value and bound
     */
    static void verify(
            ModuleDef module,
            List<CallingConvention> conventions,
            List<CallingConvention> importConventions,
            int ordinal,
            Isa isa,
            byte[] body) {
        new FunctionVerifier(module, conventions, importConventions, ordinal, isa, body, null).verify();
    }

    /**
     * As {@link #verify}, for diagnostics: continues after a finding, as far as the next instruction can be determined.
     *
     * @param findings receives the findings
     */
    static void collect(
            ModuleDef module,
            List<CallingConvention> conventions,
            List<CallingConvention> importConventions,
            int ordinal,
            Isa isa,
            byte[] body,
            Consumer<IreeException> findings) {
        new FunctionVerifier(module, conventions, importConventions, ordinal, isa, body, findings).verify();
    }

    /** Reports a finding: ends the check, unless all findings are to be collected. */
    private void found(IreeException finding) {
        if (findings == null) {
            throw finding;
        }
        findings.accept(finding);
    }

    private void verify() {
        int unknown = function.requirements() & ~isa.features();
        if (unknown != 0) {
            found(IreeException.of(
                    StatusCode.INCOMPATIBLE,
                    "needs features %s and bytecode %s has %s"
                            .formatted(FeatureBits.format(unknown), isa, FeatureBits.format(isa.features()))));
        }
        try {
            verifyStorage();
        } catch (IreeException e) {
            found(e);
        }
        boolean inBlock = false;
        int blocks = 0;
        while (next()) {
            Opcode opcode = reader.opcode();
            if (opcode.isBlock()) {
                if (inBlock) {
                    found(at("a block starts before the previous one has ended"));
                }
                inBlock = true;
                blocks++;
                marks[reader.offset()] |= BLOCK;
                continue;
            }
            if (!inBlock) {
                found(at("%s is outside of a block".formatted(opcode)));
            }
            int missing = opcode.set().requirement() & ~function.requirements();
            if (missing != 0) {
                found(at("%s needs feature %s, which the function does not require"
                        .formatted(opcode, FeatureBits.format(missing))));
            }
            verifyInstruction(opcode);
            inBlock = !opcode.isTerminator();
        }
        if (unreadable) {
            return; // the next instruction is unknown, so checks at the end do not apply
        }
        if (inBlock) {
            found(invalid("its last block has no terminator"));
        }
        if (blocks != function.blocks()) {
            found(invalid("it has %d blocks where %d are declared".formatted(blocks, function.blocks())));
        }
        for (int i = 0; i < marks.length; i++) {
            if (marks[i] == TARGET) {
                found(invalid("offset 0x%x is branched to and no block starts there".formatted(i)));
            }
        }
    }

    /** Checks that the arguments fit the first registers of each bank. */
    private void verifyStorage() {
        if (convention.isVariadic()) {
            throw invalid("convention '%s' has a span, which functions of bytecode cannot have".formatted(convention));
        }
        if (registers.words() > RegisterEncoding.MAX_WORDS || registers.refs() > RegisterEncoding.MAX_REFS) {
            throw invalid("arguments of '%s' need %d value and %d reference registers, more than %d and %d"
                    .formatted(
                            convention,
                            registers.words(),
                            registers.refs(),
                            RegisterEncoding.MAX_WORDS,
                            RegisterEncoding.MAX_REFS));
        }
    }

    private boolean next() {
        try {
            return reader.next();
        } catch (IreeException e) {
            unreadable = true;
            found(e);
            return false;
        }
    }

    private void verifyInstruction(Opcode opcode) {
        if (findings == null) {
            for (int i = 0; i < opcode.fields().size(); i++) {
                verifyField(opcode, i);
            }
            verifyMeaning(opcode);
            return;
        }
        boolean sound = true;
        for (int i = 0; i < opcode.fields().size(); i++) {
            try {
                verifyField(opcode, i);
            } catch (IreeException e) {
                findings.accept(e);
                sound = false;
            }
        }
        if (sound) { // else an ordinal may be invalid
            try {
                verifyMeaning(opcode);
            } catch (IreeException e) {
                findings.accept(e);
            }
        }
    }

    private void verifyField(Opcode opcode, int i) {
        Field field = opcode.fields().get(i);
        switch (field.kind()) {
            case REGISTER -> register(field, field.name(), reader.register(i), field.type());
            case OPERANDS, RESULTS -> {
                for (int k = 0; k < reader.count(i); k++) {
                    register(field, field.name(), reader.item(i, k), field.type());
                }
            }
            case REMAP -> {
                for (int k = 0; k < reader.count(i); k++) {
                    remap(field, reader.source(i, k), reader.destination(i, k));
                }
            }
            case CASES -> {
                for (int k = 0; k < reader.count(i); k++) {
                    target("case target", reader.caseTarget(k));
                    for (int p = 0; p < reader.caseCount(k); p++) {
                        remap(field, reader.caseSource(k, p), reader.caseDestination(k, p));
                    }
                }
            }
            case TARGET -> target(field.name(), reader.i32(i));
            case TYPE -> ordinal("type", reader.i32(i), module.types().size());
            case RODATA ->
                ordinal("rodata segment", reader.i32(i), module.rodata().size());
            case GLOBAL_REF -> ordinal("global reference", reader.i32(i), module.globalRefs());
            case GLOBAL_OFFSET -> globalOffset(opcode, reader.i32(i));
            case FUNCTION -> callee(reader.i32(i));
            case CONST_I32, CONST_I64, CONST_F32, CONST_F64, STRING, SEGMENTS -> {}
        }
    }

    private void verifyMeaning(Opcode opcode) {
        switch (opcode.op()) {
            case Op.CALL -> call(-1, 1, 2);
            case Op.CALL_YIELDABLE -> call(-1, 1, 3);
            case Op.CALL_VARIADIC -> call(1, 2, 3);
            case Op.CALL_VARIADIC_YIELDABLE -> call(1, 2, 4);
            case Op.RETURN -> registers("result", 0, convention.results());
            case Op.IMPORT_RESOLVED -> {
                if ((reader.i32(0) & FieldKind.IMPORT_BIT) == 0) {
                    throw at("function %d is not an import".formatted(reader.i32(0)));
                }
            }
            default -> {}
        }
    }

    private void call(int segments, int operands, int results) {
        int callee = reader.i32(0);
        boolean isImport = (callee & FieldKind.IMPORT_BIT) != 0;
        CallingConvention called =
                isImport ? importConventions.get(callee & ~FieldKind.IMPORT_BIT) : conventions.get(callee);
        if (segments >= 0 && !isImport) {
            throw at("only imports can be called with spans, and function %d is not an import".formatted(callee));
        }
        if (segments < 0 && called.isVariadic()) {
            throw at("convention '%s' of the callee has a span, whose size this call does not give".formatted(called));
        }
        String letters;
        if (segments < 0) {
            letters = called.arguments();
        } else {
            int[] sizes = new int[reader.count(segments)];
            for (int i = 0; i < sizes.length; i++) {
                sizes[i] = reader.item(segments, i);
            }
            letters = Spans.flatten(called, sizes, reader.count(operands), this::at);
        }
        registers("argument", operands, letters);
        registers("result", results, called.results());
    }

    /** Checks that a list has a register of the right type for each letter. */
    private void registers(String what, int field, String letters) {
        int count = reader.count(field);
        if (count != letters.length()) {
            throw at("%s has %d %ss where %d are wanted".formatted(reader.opcode(), count, what, letters.length()));
        }
        Field list = reader.opcode().fields().get(field);
        for (int i = 0; i < count; i++) {
            RegisterType type = switch (letters.charAt(i)) {
                case 'i', 'f' -> RegisterType.I32;
                case 'I', 'F' -> RegisterType.I64;
                default -> RegisterType.REF;
            };
            register(list, what + " " + i, reader.item(field, i), type);
        }
    }

    private void remap(Field field, int source, int target) {
        if (RegisterEncoding.isRef(source) != RegisterEncoding.isRef(target)) {
            throw at("%s copy %s to %s, which is in the other bank"
                    .formatted(field.name(), spell(source), spell(target)));
        }
        register(field, field.name(), source, RegisterType.ANY);
        register(field, field.name(), target, RegisterType.ANY);
    }

    private void register(Field field, String name, int register, RegisterType type) {
        boolean isRef = RegisterEncoding.isRef(register);
        int ordinal = RegisterEncoding.ordinal(register);
        if (type != RegisterType.ANY && isRef != (type == RegisterType.REF)) {
            throw at(
                    "%s of %s is %s where %s is wanted".formatted(name, reader.opcode(), spell(register), spell(type)));
        }
        if (isRef && !field.movable() && RegisterEncoding.isMove(register)) {
            throw at("%s of %s is %s with a MOVE bit, which is not allowed there"
                    .formatted(name, reader.opcode(), spell(register)));
        }
        if (type.isWide() && (ordinal & 1) != 0) {
            throw at("%s of %s is %s where 64 bits need an even register"
                    .formatted(name, reader.opcode(), spell(register)));
        }
        int bound = isRef ? registers.refs() : registers.words();
        if (ordinal + (type.isWide() ? 1 : 0) >= bound) {
            throw at("%s of %s is %s and the function has %d such registers"
                    .formatted(name, reader.opcode(), spell(register), bound));
        }
    }

    private void target(String name, int target) {
        if (target < 0 || target >= marks.length || target >= FieldKind.MAX_TARGET) {
            throw at("%s of %s is offset %s and the function has %d bytes"
                    .formatted(name, reader.opcode(), Integer.toUnsignedString(target), marks.length));
        }
        marks[target] |= TARGET;
    }

    private void ordinal(String what, int ordinal, int count) {
        if (ordinal < 0 || ordinal >= count) {
            throw at("%s refers to %s %s and there are %d"
                    .formatted(reader.opcode(), what, Integer.toUnsignedString(ordinal), count));
        }
    }

    private void callee(int callee) {
        if ((callee & FieldKind.IMPORT_BIT) != 0) {
            ordinal("import", callee & ~FieldKind.IMPORT_BIT, importConventions.size());
        } else {
            ordinal("function", callee, conventions.size());
        }
    }

    private void globalOffset(Opcode opcode, int offset) {
        boolean wide = opcode.fields().get(1).type().isWide();
        int size = wide ? I64_BYTES : I32_BYTES;
        if (offset < 0 || offset > module.globalBytes() - size) {
            throw at("%s accesses global bytes [%s, %s) and there are %d"
                    .formatted(
                            opcode,
                            Integer.toUnsignedString(offset),
                            (offset & 0xFFFF_FFFFL) + size,
                            module.globalBytes()));
        }
    }

    private static String spell(int register) {
        return (RegisterEncoding.isRef(register) ? "reference register " : "value register ")
                + RegisterEncoding.ordinal(register);
    }

    private static String spell(RegisterType type) {
        return type == RegisterType.REF ? "a reference register" : "a value register";
    }

    private IreeException at(String message) {
        return invalid("offset 0x%x: %s".formatted(reader.offset(), message));
    }

    private static IreeException invalid(String message) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, message);
    }
}
