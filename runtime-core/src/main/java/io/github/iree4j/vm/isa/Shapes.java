package io.github.iree4j.vm.isa;

import static io.github.iree4j.vm.isa.RegisterType.ANY;
import static io.github.iree4j.vm.isa.RegisterType.I32;
import static io.github.iree4j.vm.isa.RegisterType.I64;
import static io.github.iree4j.vm.isa.RegisterType.REF;

import java.util.List;

/** The field lists shared by opcodes ({@code iree/vm/bytecode/isa/isa.json}, encodings). */
final class Shapes {
    static final List<Field> BLOCK = List.of();

    static final List<Field> GLOBAL_LOAD_REF = List.of(
            Field.of("global", FieldKind.GLOBAL_REF), Field.of("type", FieldKind.TYPE), Field.writeMovable("result"));
    static final List<Field> GLOBAL_STORE_REF = List.of(
            Field.of("global", FieldKind.GLOBAL_REF), Field.of("type", FieldKind.TYPE), Field.readMovable("value"));
    static final List<Field> GLOBAL_LOAD_INDIRECT_REF =
            List.of(Field.read("global", I32), Field.of("type", FieldKind.TYPE), Field.writeMovable("result"));
    static final List<Field> GLOBAL_STORE_INDIRECT_REF =
            List.of(Field.read("global", I32), Field.of("type", FieldKind.TYPE), Field.readMovable("value"));

    static final List<Field> CONST_REF_ZERO = List.of(Field.writeMovable("result"));
    static final List<Field> CONST_REF_RODATA =
            List.of(Field.of("rodata", FieldKind.RODATA), Field.writeMovable("result"));

    static final List<Field> LIST_ALLOC = List.of(
            Field.of("element type", FieldKind.TYPE), Field.read("capacity", I32), Field.writeMovable("result"));
    static final List<Field> LIST_RESERVE = List.of(Field.read("list", REF), Field.read("capacity", I32));
    static final List<Field> LIST_SIZE = List.of(Field.read("list", REF), Field.write("result", I32));
    static final List<Field> LIST_RESIZE = List.of(Field.read("list", REF), Field.read("size", I32));
    static final List<Field> LIST_GET_REF = List.of(
            Field.read("list", REF),
            Field.read("index", I32),
            Field.of("type", FieldKind.TYPE),
            Field.writeMovable("result"));
    static final List<Field> LIST_SET_REF =
            List.of(Field.read("list", REF), Field.read("index", I32), Field.readMovable("value"));

    static final List<Field> SELECT_REF = List.of(
            Field.read("condition", I32),
            Field.of("type", FieldKind.TYPE),
            Field.readMovable("true value"),
            Field.readMovable("false value"),
            Field.writeMovable("result"));
    static final List<Field> SWITCH_REF = List.of(
            Field.read("index", I32),
            Field.of("type", FieldKind.TYPE),
            Field.readMovable("default value"),
            Field.list("values", REF),
            Field.writeMovable("result"));
    static final List<Field> CAST_ANY_REF =
            List.of(Field.readMovable("operand"), Field.of("type", FieldKind.TYPE), Field.writeMovable("result"));
    static final List<Field> ASSIGN_REF = List.of(Field.readMovable("source"), Field.writeMovable("result"));
    static final List<Field> DISCARD_REFS = List.of(Field.list("references", REF));

    static final List<Field> BRANCH = List.of(target("target"), remap("operands"));
    static final List<Field> CONDITIONAL_BRANCH = List.of(
            Field.read("condition", I32),
            target("true target"),
            remap("true operands"),
            target("false target"),
            remap("false operands"));
    static final List<Field> CONDITIONAL_BREAK =
            List.of(Field.read("condition", I32), target("target"), remap("operands"));
    static final List<Field> BRANCH_TABLE = List.of(
            Field.read("index", I32),
            target("default target"),
            remap("default operands"),
            Field.of("cases", FieldKind.CASES));

    static final List<Field> CALL = List.of(callee(), operands(), results());
    static final List<Field> CALL_VARIADIC = List.of(callee(), segments(), operands(), results());
    static final List<Field> YIELDABLE_CALL = List.of(callee(), operands(), target("resume target"), results());
    static final List<Field> CALL_VARIADIC_YIELDABLE =
            List.of(callee(), segments(), operands(), target("resume target"), results());
    static final List<Field> RETURN = List.of(operands());
    static final List<Field> FAIL = List.of(Field.read("status", I32), Field.of("message", FieldKind.STRING));
    static final List<Field> IMPORT_RESOLVED =
            List.of(Field.of("import", FieldKind.FUNCTION), Field.write("result", I32));
    static final List<Field> TRACE = List.of(Field.of("event", FieldKind.STRING), operands());

    static final List<Field> BUFFER_ALLOC =
            List.of(Field.read("length", I64), Field.read("alignment", I32), Field.writeMovable("result"));
    static final List<Field> BUFFER_CLONE = List.of(
            Field.read("source", REF),
            Field.read("offset", I64),
            Field.read("length", I64),
            Field.read("alignment", I32),
            Field.writeMovable("result"));
    static final List<Field> BUFFER_LENGTH = List.of(Field.read("buffer", REF), Field.write("result", I64));
    static final List<Field> BUFFER_COPY = List.of(
            Field.read("source", REF),
            Field.read("source offset", I64),
            Field.read("target", REF),
            Field.read("target offset", I64),
            Field.read("length", I64));
    static final List<Field> BUFFER_COMPARE = List.of(
            Field.read("left", REF),
            Field.read("left offset", I64),
            Field.read("right", REF),
            Field.read("right offset", I64),
            Field.read("length", I64),
            Field.write("result", I32));
    static final List<Field> BUFFER_HASH = List.of(
            Field.read("source", REF),
            Field.read("offset", I64),
            Field.read("length", I64),
            Field.write("result", I64));

    private Shapes() {}

    static List<Field> unary(RegisterType type) {
        return conversion(type, type);
    }

    static List<Field> conversion(RegisterType from, RegisterType to) {
        return List.of(Field.read("operand", from), Field.write("result", to));
    }

    static List<Field> test(RegisterType type) {
        return conversion(type, I32);
    }

    static List<Field> binary(RegisterType type) {
        return List.of(Field.read("left", type), Field.read("right", type), Field.write("result", type));
    }

    static List<Field> power(RegisterType type) {
        return List.of(Field.read("base", type), Field.read("exponent", I64), Field.write("result", type));
    }

    static List<Field> comparison(RegisterType type) {
        return List.of(Field.read("left", type), Field.read("right", type), Field.write("result", I32));
    }

    static List<Field> ternary(RegisterType type) {
        return List.of(
                Field.read("first", type),
                Field.read("second", type),
                Field.read("third", type),
                Field.write("result", type));
    }

    static List<Field> shift(RegisterType type) {
        return List.of(Field.read("operand", type), Field.read("amount", I32), Field.write("result", type));
    }

    static List<Field> select(RegisterType type) {
        return List.of(
                Field.read("condition", I32),
                Field.read("true value", type),
                Field.read("false value", type),
                Field.write("result", type));
    }

    static List<Field> switchOf(RegisterType type) {
        return List.of(
                Field.read("index", I32),
                Field.read("default value", type),
                Field.list("values", type),
                Field.write("result", type));
    }

    static List<Field> globalLoad(RegisterType type) {
        return List.of(Field.of("global", FieldKind.GLOBAL_OFFSET), Field.write("result", type));
    }

    static List<Field> globalStore(RegisterType type) {
        return List.of(Field.of("global", FieldKind.GLOBAL_OFFSET), Field.read("value", type));
    }

    static List<Field> globalLoadIndirect(RegisterType type) {
        return List.of(Field.read("global", I32), Field.write("result", type));
    }

    static List<Field> globalStoreIndirect(RegisterType type) {
        return List.of(Field.read("global", I32), Field.read("value", type));
    }

    static List<Field> zeroConstant(RegisterType type) {
        return List.of(Field.write("result", type));
    }

    static List<Field> constant(RegisterType type) {
        FieldKind kind = switch (type) {
            case I32 -> FieldKind.CONST_I32;
            case I64 -> FieldKind.CONST_I64;
            case F32 -> FieldKind.CONST_F32;
            case F64 -> FieldKind.CONST_F64;
            case REF, ANY -> throw new IllegalArgumentException("no literals of type " + type);
        };
        return List.of(Field.of("value", kind), Field.write("result", type));
    }

    static List<Field> listGet(RegisterType type) {
        return List.of(Field.read("list", REF), Field.read("index", I32), Field.write("result", type));
    }

    static List<Field> listSet(RegisterType type) {
        return List.of(Field.read("list", REF), Field.read("index", I32), Field.read("value", type));
    }

    static List<Field> bufferLoad(RegisterType type) {
        return List.of(Field.read("source", REF), Field.read("offset", I64), Field.write("result", type));
    }

    static List<Field> bufferStore(RegisterType type) {
        return List.of(Field.read("target", REF), Field.read("offset", I64), Field.read("value", type));
    }

    static List<Field> bufferFill(RegisterType type) {
        return List.of(
                Field.read("target", REF),
                Field.read("offset", I64),
                Field.read("length", I64),
                Field.read("value", type));
    }

    private static Field target(String name) {
        return Field.of(name, FieldKind.TARGET);
    }

    private static Field remap(String name) {
        return Field.of(name, FieldKind.REMAP);
    }

    private static Field callee() {
        return Field.of("callee", FieldKind.FUNCTION);
    }

    private static Field segments() {
        return Field.of("segments", FieldKind.SEGMENTS);
    }

    private static Field operands() {
        return Field.list("operands", ANY);
    }

    private static Field results() {
        return Field.of("results", FieldKind.RESULTS);
    }
}
