package io.github.iree4j.vm.isa;

/**
 * One field of an instruction.
 *
 * @param name what the field is for, for messages
 * @param kind its encoding
 * @param type the type of its registers; {@link RegisterType#ANY} when the field does not specify it or has no registers
 * @param result whether its registers are written
 * @param movable whether the MOVE bit is allowed on its references
 */
public record Field(String name, FieldKind kind, RegisterType type, boolean result, boolean movable) {
    static Field of(String name, FieldKind kind) {
        return new Field(name, kind, RegisterType.ANY, kind == FieldKind.RESULTS, true);
    }

    static Field read(String name, RegisterType type) {
        return new Field(name, FieldKind.REGISTER, type, false, false);
    }

    static Field readMovable(String name) {
        return new Field(name, FieldKind.REGISTER, RegisterType.REF, false, true);
    }

    static Field write(String name, RegisterType type) {
        return new Field(name, FieldKind.REGISTER, type, true, false);
    }

    static Field writeMovable(String name) {
        return new Field(name, FieldKind.REGISTER, RegisterType.REF, true, true);
    }

    static Field list(String name, RegisterType type) {
        return new Field(name, FieldKind.OPERANDS, type, false, true);
    }
}
