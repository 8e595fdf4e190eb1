package io.github.iree4j.vm.isa;

/** A group of opcodes with a separate numbering, and the feature to be required by functions using the group. */
public enum OpcodeSet {
    /** Single-byte opcodes. */
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
     * Returns the requirement bit of functions using the group.
     *
     * @return a bit of {@link FeatureBits}, or 0
     */
    public int requirement() {
        return requirement;
    }
}
