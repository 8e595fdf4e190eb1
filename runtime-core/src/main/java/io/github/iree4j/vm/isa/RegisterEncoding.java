package io.github.iree4j.vm.isa;

/**
 * The 16 bits of a register operand ({@code iree/vm/bytecode/isa/isa.h}): bit 15 set means reference bank, and then bit
 * 14 means MOVE and the low 14 bits are the ordinal; otherwise the low 15 bits are the ordinal of a word.
 */
public final class RegisterEncoding {
    /** Set for registers of the reference bank. */
    public static final int REF_BIT = 0x8000;

    /** Set on a reference whose register is emptied by the instruction. */
    public static final int MOVE_BIT = 0x4000;

    /** Most words of a frame. */
    public static final int MAX_WORDS = 0x7FFF;

    /** Most reference registers of a frame. */
    public static final int MAX_REFS = 0x3FFF;

    private RegisterEncoding() {}

    /**
     * Returns whether an operand names the reference bank.
     *
     * @param register the 16 bits
     * @return true for the reference bank
     */
    public static boolean isRef(int register) {
        return (register & REF_BIT) != 0;
    }

    /**
     * Returns whether an operand is a reference with the MOVE bit.
     *
     * @param register the 16 bits
     * @return true when the register is emptied
     */
    public static boolean isMove(int register) {
        return (register & (REF_BIT | MOVE_BIT)) == (REF_BIT | MOVE_BIT);
    }

    /**
     * Returns the ordinal within the operand's bank.
     *
     * @param register the 16 bits
     * @return the ordinal
     */
    public static int ordinal(int register) {
        return isRef(register) ? register & MAX_REFS : register & MAX_WORDS;
    }
}
