package io.github.iree4j.vm.asm;

import io.github.iree4j.vm.isa.Field;
import io.github.iree4j.vm.isa.FieldKind;
import io.github.iree4j.vm.isa.Isa;
import io.github.iree4j.vm.isa.Opcode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The spelling of an instruction: results, {@code =}, {@code vm.} and the mnemonic, then the pieces below. Shared by
 * assembler and disassembler, so that the two cannot disagree.
 *
 * <p>Most instructions list their operands in the order of the fields. Each other instruction has a template here, in
 * which {@code {name}} stands for the field with the given name in the opcode table. Numbers and encodings are in the
 * opcode table only.
 */
final class InstructionSyntax {

    /** A part of an instruction's text. */
    sealed interface Piece permits Literal, Operand {}

    /** Punctuation, with the surrounding spaces written by the disassembler. */
    record Literal(String text) implements Piece {}

    /** The value of a field; {@code field} indexes {@link Opcode#fields()}. */
    record Operand(int field) implements Piece {}

    /** Templates by mnemonic, or by prefix where the name ends in {@code *}; the longest match applies. */
    private static final Map<String, String> TEMPLATES = Map.ofEntries(
            Map.entry("select.*", "{condition} ? {true value} : {false value}"),
            Map.entry("select.ref", "{condition} ? {true value} : {false value} -> {type}"),
            Map.entry("switch.*", "{index}[{values}] else {default value}"),
            Map.entry("switch.ref", "{index}[{values}] else {default value} -> {type}"),
            Map.entry("buffer.store.*", "{value}, {target}, {offset}"),
            Map.entry("global.store.*", "{value}, {global}"),
            Map.entry("global.store.ref", "{value}, {global} : {type}"),
            Map.entry("global.store.indirect.*", "{value}, .rwdata[{global}]"),
            Map.entry("global.store.indirect.ref", "{value}, .refs[{global}] : {type}"),
            Map.entry("global.load.indirect.*", ".rwdata[{global}]"),
            Map.entry("global.load.indirect.ref", ".refs[{global}] : {type}"),
            Map.entry("list.alloc", "{capacity} : !vm.list<{element type}>"),
            Map.entry("cast.any.ref", "{operand} : !vm.ref<?> -> {type}"),
            Map.entry("br_table", "{index} { default: {default target}{cases} }"),
            Map.entry("call", "{callee}({operands})"),
            Map.entry("call.yieldable", "{callee}({operands}) -> {resume target}({results})"),
            Map.entry("call.variadic", "{callee} segments[{segments}]({operands})"),
            Map.entry(
                    "call.variadic.yieldable",
                    "{callee} segments[{segments}]({operands}) -> {resume target}({results})"),
            Map.entry("trace", "{event}({operands})"),
            Map.entry("print", "{event}({operands})"));

    /** Instructions printed by IREE's disassembler in a form not read by IREE's assembler. */
    private static final List<String> ALSO_IN_FIELD_ORDER =
            List.of("global.store.indirect.", "global.load.indirect.", "trace", "print");

    private final Opcode opcode;
    private final List<Integer> results = new ArrayList<>();
    private final List<Piece> pieces;
    private final List<Piece> fieldOrder;

    private InstructionSyntax(Opcode opcode) {
        this.opcode = opcode;
        String template = template(opcode.mnemonic());
        for (int i = 0; i < opcode.fields().size(); i++) {
            if (opcode.fields().get(i).result() && !template.contains(placeholder(i))) {
                results.add(i);
            }
        }
        fieldOrder = inFieldOrder();
        pieces = template.isEmpty() ? fieldOrder : parse(template);
    }

    /** Returns the spelling of every instruction of a bytecode version, by mnemonic. */
    static Map<String, InstructionSyntax> of(Isa isa) {
        Map<String, InstructionSyntax> all = new HashMap<>();
        for (Opcode opcode : isa.opcodes()) {
            all.put(opcode.mnemonic(), new InstructionSyntax(opcode));
        }
        return all;
    }

    Opcode opcode() {
        return opcode;
    }

    Field field(int index) {
        return opcode.fields().get(index);
    }

    /** Returns the fields before {@code =}: registers to write, or a list of such registers. */
    List<Integer> results() {
        return results;
    }

    /** Returns the text after the mnemonic, as printed. */
    List<Piece> pieces() {
        return pieces;
    }

    /**
     * Returns the accepted spellings of the text after the mnemonic: as printed and, for some instructions, in field
     * order, as required by IREE's assembler.
     */
    List<List<Piece>> spellings() {
        boolean alsoPlain = ALSO_IN_FIELD_ORDER.stream().anyMatch(opcode.mnemonic()::startsWith);
        return alsoPlain ? List.of(pieces, fieldOrder) : List.of(pieces);
    }

    /** Returns whether {@code field} holds the copies of the preceding branch target and is written together with the target. */
    boolean isRemapOf(int field) {
        return field > 0 && field(field).kind() == FieldKind.REMAP;
    }

    private static String template(String mnemonic) {
        String exact = TEMPLATES.get(mnemonic);
        if (exact != null) {
            return exact;
        }
        for (int dot = mnemonic.lastIndexOf('.'); dot > 0; dot = mnemonic.lastIndexOf('.', dot - 1)) {
            String family = TEMPLATES.get(mnemonic.substring(0, dot) + ".*");
            if (family != null) {
                return family;
            }
        }
        return "";
    }

    private String placeholder(int field) {
        return "{" + opcode.fields().get(field).name() + "}";
    }

    /** Returns operands separated by commas, a type by a colon. */
    private List<Piece> inFieldOrder() {
        List<Piece> list = new ArrayList<>();
        for (int i = 0; i < opcode.fields().size(); i++) {
            Field field = opcode.fields().get(i);
            if (field.result() || isRemapOf(i)) {
                continue;
            }
            if (!list.isEmpty()) {
                list.add(new Literal(field.kind() == FieldKind.TYPE ? " : " : ", "));
            } else if (field.kind() == FieldKind.TYPE) {
                list.add(new Literal(": "));
            }
            list.add(new Operand(i));
        }
        return list;
    }

    private List<Piece> parse(String template) {
        List<Piece> list = new ArrayList<>();
        int at = 0;
        while (at < template.length()) {
            int field = fieldAt(template, at);
            if (field >= 0) {
                list.add(new Operand(field));
                at += placeholder(field).length();
                continue;
            }
            int next = at + 1;
            while (next < template.length() && fieldAt(template, next) < 0) {
                next++;
            }
            list.add(new Literal(template.substring(at, next)));
            at = next;
        }
        return list;
    }

    private int fieldAt(String template, int at) {
        for (int i = 0; i < opcode.fields().size(); i++) {
            if (template.startsWith(placeholder(i), at)) {
                return i;
            }
        }
        return -1;
    }
}
