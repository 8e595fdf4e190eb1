package io.github.iree4j.vm.isa;

/** A group of opcodes with its own numbering, and the feature that a function must require to use it. */
public enum OpcodeSet {
    /** One byte each. */
    CORE(0),
    /** Behind a prefix byte. */
    EXT_F32(FeatureBits.EXT_F32),
    /** Behind a prefix byte. */
    EXT_F64(FeatureBits.EXT_F64);

    private final int requirement;

    OpcodeSet(int requirement) {
        this.requirement = requirement;
    }

    /**
     * Returns the requirement bit that a function using the group must have.
     *
     * @return one of {@link FeatureBits}, or 0
     */
    public int requirement() {
        return requirement;
    }
}
