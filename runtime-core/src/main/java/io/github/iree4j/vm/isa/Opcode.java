package io.github.iree4j.vm.isa;

import java.util.List;

/**
 * A row of a bytecode version's table.
 *
 * @param set the group of the number
 * @param number the encoding in the group, a byte
 * @param op the operation, see {@link Op}
 * @param mnemonic the name in VMASM, without the leading {@code vm.}, for example {@code add.i32}
 * @param fields the fields after the opcode, in order
 */
public record Opcode(OpcodeSet set, int number, int op, String mnemonic, List<Field> fields) {
    /**
     * Creates a row.
     *
     * @param fields the fields after the opcode; copied
     */
    public Opcode {
        fields = List.copyOf(fields);
    }

    /**
     * Returns whether the instruction ends a block: control does not fall through.
     *
     * @return true for branches, return, fail, yield and yieldable calls
     */
    public boolean isTerminator() {
        return switch (op) {
            case Op.BR,
                    Op.COND_BR,
                    Op.BR_TABLE,
                    Op.CALL_YIELDABLE,
                    Op.CALL_VARIADIC_YIELDABLE,
                    Op.RETURN,
                    Op.FAIL,
                    Op.YIELD,
                    Op.BREAK,
                    Op.COND_BREAK -> true;
            default -> false;
        };
    }

    /**
     * Returns whether the instruction is the marker at the start of a block.
     *
     * @return true for the block marker
     */
    public boolean isBlock() {
        return op == Op.BLOCK;
    }

    @Override
    public String toString() {
        return mnemonic;
    }
}
