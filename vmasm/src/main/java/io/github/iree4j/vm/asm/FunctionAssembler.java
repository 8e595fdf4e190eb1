package io.github.iree4j.vm.asm;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.vm.asm.InstructionSyntax.Literal;
import io.github.iree4j.vm.asm.InstructionSyntax.Operand;
import io.github.iree4j.vm.asm.InstructionSyntax.Piece;
import io.github.iree4j.vm.asm.ModuleDraft.Attribute;
import io.github.iree4j.vm.asm.ModuleDraft.Located;
import io.github.iree4j.vm.asm.OperandParser.Bits;
import io.github.iree4j.vm.asm.OperandParser.Bytes;
import io.github.iree4j.vm.asm.OperandParser.Cases;
import io.github.iree4j.vm.asm.OperandParser.Edge;
import io.github.iree4j.vm.asm.OperandParser.Name;
import io.github.iree4j.vm.asm.OperandParser.Registers;
import io.github.iree4j.vm.asm.OperandParser.Value;
import io.github.iree4j.vm.isa.Field;
import io.github.iree4j.vm.isa.FieldKind;
import io.github.iree4j.vm.isa.Isa;
import io.github.iree4j.vm.isa.Op;
import io.github.iree4j.vm.isa.Opcode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Assembles the body of a function, line by line. */
final class FunctionAssembler {

    private record Fixup(int position, Name name) {}

    private final Isa isa;
    private final Map<String, InstructionSyntax> syntax;
    private final OperandParser operands;
    private final CodeBuffer code = new CodeBuffer();
    private final Map<String, Integer> labels = new HashMap<>();
    private final List<Fixup> labelFixups = new ArrayList<>();
    private final List<Fixup> functionFixups = new ArrayList<>();

    final String name;
    final List<Attribute> attributes = new ArrayList<>();
    String convention;

    final List<Located> locations = new ArrayList<>();

    /** The source location of the following instructions. */
    private @Nullable SourceText source;

    @Nullable
    Integer declaredRequirements;

    @Nullable
    Integer declaredWords;

    @Nullable
    Integer declaredRefs;

    /** The terminator of the current block, or null while the block is open. */
    private @Nullable String terminator;

    FunctionAssembler(
            Isa isa, Map<String, InstructionSyntax> syntax, OperandParser operands, String name, String convention) {
        this.isa = isa;
        this.syntax = syntax;
        this.operands = operands;
        this.name = name;
        this.convention = convention;
        opcode(Objects.requireNonNull(isa.opcode(Op.BLOCK)));
    }

    /** Returns whether there is no code yet, so that directives may follow. */
    boolean isEmpty() {
        return code.size() == 1 && labels.isEmpty();
    }

    /** Assembles a label or an instruction. */
    void line(LineCursor line) {
        if (line.peek() == '^') {
            label(line);
        } else if (line.tryTake("vm.loc")) {
            source = SourceText.parse(line, 0);
        } else {
            instruction(line);
        }
        line.expectEnd();
    }

    /** Ends the body at the closing brace. */
    void finish(LineCursor line) {
        if (terminator == null) {
            throw line.error("a terminator such as 'vm.return' at the end of function '@%s'".formatted(name));
        }
        for (Fixup fixup : labelFixups) {
            Integer target = labels.get(fixup.name().name());
            if (target == null) {
                throw undefined(fixup, "block");
            }
            if (target >= FieldKind.MAX_TARGET) {
                throw line.failure("function '@%s' is longer than the reach of branches, %d bytes"
                        .formatted(name, FieldKind.MAX_TARGET));
            }
            code.patch(fixup.position(), target);
        }
    }

    /** Fills in the ordinals of called functions, once all ordinals are known. */
    byte[] link(ModuleDraft draft, Map<String, Integer> ordinals) {
        for (Fixup fixup : functionFixups) {
            Integer ordinal = ordinals.get(fixup.name().name());
            if (ordinal == null) {
                throw undefined(fixup, "function or import of module '@%s'".formatted(draft.name));
            }
            code.patch(fixup.position(), ordinal);
        }
        return code.toByteArray();
    }

    private static IreeException undefined(Fixup fixup, String what) {
        fixup.name().cursor().reset(fixup.name().mark());
        return fixup.name().cursor().error("a %s that is defined".formatted(what));
    }

    private void label(LineCursor line) {
        int mark = line.mark();
        String label = line.label();
        line.take(":");
        int position = code.size();
        if (labels.isEmpty() && position == 1) {
            position = 0;
        } else {
            if (terminator == null) {
                line.reset(mark);
                throw line.error("a terminator such as 'vm.br' before the next block");
            }
            opcode(Objects.requireNonNull(isa.opcode(Op.BLOCK)));
        }
        terminator = null;
        if (labels.putIfAbsent(label, position) != null) {
            line.reset(mark);
            throw line.error("a block label that is not defined yet");
        }
    }

    private void instruction(LineCursor line) {
        int start = line.mark();
        boolean hasResults = line.peek() == '%';
        if (hasResults) {
            int equals = line.peekRest().indexOf('=');
            if (equals < 0) {
                throw line.error("an instruction");
            }
            line.skip(equals + 1);
        }
        line.skipSpace();
        int mark = line.mark();
        String word = line.word();
        String mnemonic = word.startsWith("vm.") ? word.substring(3) : word;
        InstructionSyntax form = syntax.get(mnemonic);
        if (form == null || form.opcode().isBlock()) {
            line.reset(mark);
            throw line.error("an instruction of bytecode %s".formatted(isa));
        }
        if (terminator != null) {
            line.reset(mark);
            throw line.error("a block label or '}' after '%s'".formatted(terminator));
        }
        Value[] values = new Value[form.opcode().fields().size()];
        operands(line, form, values);
        line.expectEnd();
        int end = line.mark();
        line.reset(start);
        results(line, form, hasResults, mark, values);
        line.reset(end);
        encode(form, values);
        if (form.opcode().isTerminator()) {
            terminator = word;
        }
    }

    private void operands(LineCursor line, InstructionSyntax form, Value[] values) {
        int start = line.mark();
        IreeException furthest = null;
        int furthestColumn = -1;
        for (List<Piece> spelling : form.spellings()) {
            line.reset(start);
            try {
                for (Piece piece : spelling) {
                    switch (piece) {
                        case Literal literal -> punctuation(line, literal.text());
                        case Operand operand -> operand(line, form, operand.field(), values);
                    }
                }
                line.expectEnd();
                return;
            } catch (IreeException e) {
                if (line.column() > furthestColumn) {
                    furthest = e;
                    furthestColumn = line.column();
                }
            }
        }
        throw Objects.requireNonNull(furthest);
    }

    private static void punctuation(LineCursor line, String text) {
        if (text.contains("!vm.ref<?>")) {
            // The source type of a cast is not encoded and informs only the reader.
            line.take(":");
            OperandParser.typeName(line);
            line.take("->");
            return;
        }
        if (text.equals(", ") && line.atEnd()) {
            // Nothing follows: correct for an empty operand list; other operands report the missing text.
            return;
        }
        for (String token : text.strip().split(" ")) {
            if (!line.tryTakeRaw(token)) {
                throw line.error("'" + token + "'");
            }
        }
    }

    private void operand(LineCursor line, InstructionSyntax form, int index, Value[] values) {
        Field field = form.field(index);
        boolean withRemap = index + 1 < values.length && form.isRemapOf(index + 1);
        Value value = operands.operand(line, field, CodeFacts.globalSize(form.opcode()), withRemap);
        if (value instanceof Edge edge) {
            values[index] = edge.label();
            values[index + 1] = edge.remap();
        } else {
            values[index] = value;
        }
    }

    private void results(LineCursor line, InstructionSyntax form, boolean hasResults, int mnemonic, Value[] values) {
        List<Integer> fields = form.results();
        boolean isList = !fields.isEmpty() && form.field(fields.getFirst()).kind() == FieldKind.RESULTS;
        if (!hasResults) {
            if (!fields.isEmpty() && !isList) {
                line.reset(mnemonic);
                throw line.error("a result register and '=' before the instruction");
            }
        } else if (fields.isEmpty()) {
            line.reset(mnemonic);
            throw line.error("an instruction that has a result");
        } else {
            for (int field : fields) {
                operand(line, form, field, values);
            }
            line.take("=");
        }
        for (int i = 0; i < values.length; i++) {
            if (values[i] == null) {
                values[i] = Objects.requireNonNull(OperandParser.absent(form.field(i)));
            }
        }
    }

    private void opcode(Opcode opcode) {
        int prefix = isa.prefix(opcode.set());
        if (prefix >= 0) {
            code.u8(prefix);
        }
        code.u8(opcode.number());
    }

    private void encode(InstructionSyntax form, Value[] values) {
        if (source != null) {
            locations.add(new Located(code.size(), source));
        }
        opcode(form.opcode());
        for (int i = 0; i < values.length; i++) {
            Field field = form.field(i);
            switch (values[i]) {
                case Bits number -> number(field.kind(), number.bits());
                case Name reference -> {
                    (field.kind() == FieldKind.TARGET ? labelFixups : functionFixups)
                            .add(new Fixup(code.size(), reference));
                    code.u32(0);
                }
                case Registers registers -> list(registers.items(), field.kind() == FieldKind.REMAP ? 2 : 1);
                case Bytes string -> {
                    code.u16(string.bytes().length);
                    code.bytes(string.bytes());
                }
                case Cases cases -> {
                    code.u16(cases.edges().size());
                    for (Edge edge : cases.edges()) {
                        labelFixups.add(new Fixup(code.size(), edge.label()));
                        code.u32(0);
                        list(edge.remap().items(), 2);
                    }
                }
                case Edge edge -> throw new AssertionError(edge);
            }
        }
    }

    private void number(FieldKind kind, long bits) {
        switch (kind) {
            case REGISTER -> code.u16((int) bits);
            case CONST_I64, CONST_F64 -> code.u64(bits);
            default -> code.u32((int) bits);
        }
    }

    private void list(int[] items, int itemsPerElement) {
        code.align(2);
        code.u16(items.length / itemsPerElement);
        for (int item : items) {
            code.u16(item);
        }
    }
}
