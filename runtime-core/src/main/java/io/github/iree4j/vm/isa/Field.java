package io.github.iree4j.vm.isa;

/**
 * A field of an instruction.
 *
 * @param name the purpose of the field, for messages
 * @param kind the encoding
 * @param type the type of the field's registers; {@link RegisterType#ANY} when not specified by the field or without
 *     registers
 * @param result whether the registers are written
 * @param movable whether the MOVE bit is allowed on references
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
