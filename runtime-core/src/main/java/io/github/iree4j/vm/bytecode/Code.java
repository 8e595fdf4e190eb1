package io.github.iree4j.vm.bytecode;

import io.github.iree4j.vm.isa.Op;

/** Operations that exist only in translated code, with numbers following the operations of {@link Op}. */
final class Code {
    /** Result a, literal in the next long. */
    static final int CONST_I64_WIDE = Op.COUNT;

    /** b = a, one word. */
    static final int MOVE_WORD = Op.COUNT + 1;

    /** b = a, two words. */
    static final int MOVE_WIDE = Op.COUNT + 2;

    /** Calls an import; the upper half is the call site. */
    static final int CALL_IMPORT = Op.COUNT + 3;

    /** Releases reference a. */
    static final int DISCARD = Op.COUNT + 4;

    /** b = a, references; a may have the MOVE bit. */
    static final int MOVE_REF = Op.ASSIGN_REF;

    /** Compares a and b as signed words into c, then performs the conditional branch in the next longs. */
    static final int CMP_LT_I32_S_BR = Op.COUNT + 5;

    /** As {@link #CMP_LT_I32_S_BR}, for equality. */
    static final int CMP_EQ_I32_BR = Op.COUNT + 6;

    /** As {@link #CMP_LT_I32_S_BR}, for inequality. */
    static final int CMP_NE_I32_BR = Op.COUNT + 7;

    /** As {@link #CMP_LT_I32_S_BR}, for two words. */
    static final int CMP_LT_I64_S_BR = Op.COUNT + 8;

    /** A branch that copies references. */
    static final int BR_REFS = Op.COUNT + 9;

    /** A conditional branch that copies references on an edge. */
    static final int COND_BR_REFS = Op.COUNT + 10;

    /** Continues in a compiled part. Only in {@link FunctionCode#running()}. */
    static final int ENTER = Op.COUNT + 11;

    /** MOVE bit of references in operands. */
    static final int MOVE = 0x4000;

    private Code() {}

    static long pack(int op, int a, int b, int c) {
        return op | (long) a << 16 | (long) b << 32 | (long) c << 48;
    }

    /** Packs an instruction with operand a and a 32-bit operand. */
    static long packWide(int op, int a, int upper) {
        return op | (long) a << 16 | (long) upper << 32;
    }

    /** Packs two 32-bit numbers. */
    static long pair(int low, int high) {
        return (low & 0xFFFF_FFFFL) | (long) high << 32;
    }
}
