package io.github.iree4j.vm.isa;

import java.util.ArrayList;
import java.util.List;

/** Requirement bits of modules and functions ({@code iree/schemas/bytecode_module_def.fbs}, {@code FeatureBits}). */
public final class FeatureBits {
    /** Uses the f32 opcodes. */
    public static final int EXT_F32 = 1;

    /** Uses the f64 opcodes. */
    public static final int EXT_F64 = 2;

    /** May yield, and is resumed later. */
    public static final int YIELD = 4;

    /** Has references to release on failure. */
    public static final int UNWIND = 8;

    /** All features provided by this runtime. */
    public static final int AVAILABLE = EXT_F32 | EXT_F64 | YIELD | UNWIND;

    private FeatureBits() {}

    /**
     * Spells a set of bits.
     *
     * @param bits the set
     * @return for example {@code EXT_F32|YIELD}; {@code 0} for none; bits without a name in hexadecimal
     */
    public static String format(int bits) {
        List<String> names = new ArrayList<>();
        if ((bits & EXT_F32) != 0) {
            names.add("EXT_F32");
        }
        if ((bits & EXT_F64) != 0) {
            names.add("EXT_F64");
        }
        if ((bits & YIELD) != 0) {
            names.add("YIELD");
        }
        if ((bits & UNWIND) != 0) {
            names.add("UNWIND");
        }
        int rest = bits & ~AVAILABLE;
        if (rest != 0) {
            names.add("0x" + Integer.toHexString(rest));
        }
        return names.isEmpty() ? "0" : String.join("|", names);
    }
}
