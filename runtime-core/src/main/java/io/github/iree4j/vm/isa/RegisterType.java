package io.github.iree4j.vm.isa;

/** The type of a register operand, determining the bank and the number of words. */
public enum RegisterType {
    /** One word of the value bank. */
    I32,
    /** Two words of the value bank, the first with an even ordinal. */
    I64,
    /** One word of the value bank, holding the bits of a float. */
    F32,
    /** Two words of the value bank, holding the bits of a double, the first with an even ordinal. */
    F64,
    /** One register of the reference bank. */
    REF,
    /** Either bank, selected by the bank bit of the operand (operand lists of calls, branches, traces). */
    ANY;

    /**
     * Returns whether a value takes two words.
     *
     * @return true for {@link #I64} and {@link #F64}
     */
    public boolean isWide() {
        return this == I64 || this == F64;
    }
}
