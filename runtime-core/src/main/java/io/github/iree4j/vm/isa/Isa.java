package io.github.iree4j.vm.isa;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The instruction set of a bytecode version: opcode numbers, prefixes and operations, the features available as
 * requirements, and the treatment of MOVE bits.
 *
 * <p>Taken from {@code iree/vm/bytecode/isa/isa.json} and, for versions before 17, from the history of
 * {@code compiler/Dialect/VM/IR/VMOpcodes*.td} and {@code iree/vm/bytecode/utils/isa.h} in IREE's repository. From 15
 * on, operations were added but never renumbered or changed; a version's table has all operations added while the
 * version was current. Immutable.
 */
public final class Isa {
    /** Bytecode 17.0, of IREE 3.11 and later: yieldable calls, and feature bits for yielding and for unwinding. */
    public static final Isa V17_0 = new Isa(
            17,
            0,
            FeatureBits.EXT_F32 | FeatureBits.EXT_F64 | FeatureBits.YIELD | FeatureBits.UNWIND,
            true,
            CoreOpcodes17.CORE,
            FloatOpcodes17.F32_ROWS,
            FloatOpcodes17.F64_ROWS);

    /** Bytecode 16.0, of IREE 3.10: references are moved and discarded. */
    public static final Isa V16_0 = new Isa(
            16,
            0,
            FeatureBits.EXT_F32 | FeatureBits.EXT_F64,
            true,
            without(CoreOpcodes17.CORE, Op.CALL_YIELDABLE, Op.CALL_VARIADIC_YIELDABLE),
            FloatOpcodes17.F32_ROWS,
            FloatOpcodes17.F64_ROWS);

    /**
     * Bytecode 15.0, of IREE from March 2023 to 3.9. Compilers of this version set MOVE bits on every last use, but
     * runtimes heeded MOVE bits only in calls between functions of the module, returns, branches, switches and traces;
     * see {@link InstructionReader}.
     */
    public static final Isa V15_0 = new Isa(
            15,
            0,
            FeatureBits.EXT_F32 | FeatureBits.EXT_F64,
            false,
            without(CoreOpcodes17.CORE, Op.CALL_YIELDABLE, Op.CALL_VARIADIC_YIELDABLE, Op.DISCARD_REFS, Op.ASSIGN_REF),
            FloatOpcodes17.F32_ROWS,
            FloatOpcodes17.F64_ROWS);

    private static final List<Isa> ALL = List.of(V15_0, V16_0, V17_0);

    private static final int NUMBERS = 256;

    private final int major;
    private final int minor;
    private final int features;
    private final boolean movesEverywhere;
    private final Map<OpcodeSet, Integer> prefixes = Map.of(OpcodeSet.EXT_F32, 0xE0, OpcodeSet.EXT_F64, 0xE1);
    private final @Nullable OpcodeSet[] setByPrefix = new OpcodeSet[NUMBERS];
    private final @Nullable Opcode[][] byNumber = new Opcode[OpcodeSet.values().length][NUMBERS];
    private final @Nullable Opcode[] byOp = new Opcode[Op.COUNT];
    private final Map<String, Opcode> byMnemonic = new HashMap<>();
    private final List<Opcode> opcodes;

    @SafeVarargs
    private Isa(int major, int minor, int features, boolean movesEverywhere, List<Opcode>... tables) {
        this.major = major;
        this.minor = minor;
        this.features = features;
        this.movesEverywhere = movesEverywhere;
        prefixes.forEach((set, prefix) -> setByPrefix[prefix] = set);
        List<Opcode> all = new ArrayList<>();
        for (List<Opcode> table : tables) {
            for (Opcode opcode : table) {
                if (byNumber[opcode.set().ordinal()][opcode.number()] != null
                        || byOp[opcode.op()] != null
                        || byMnemonic.put(opcode.mnemonic(), opcode) != null) {
                    throw new IllegalStateException("opcode " + opcode.mnemonic() + " is in the table twice");
                }
                byNumber[opcode.set().ordinal()][opcode.number()] = opcode;
                byOp[opcode.op()] = opcode;
                all.add(opcode);
            }
        }
        opcodes = List.copyOf(all);
    }

    private static List<Opcode> without(List<Opcode> rows, Integer... ops) {
        Set<Integer> left = Set.of(ops);
        return rows.stream().filter(row -> !left.contains(row.op())).toList();
    }

    /**
     * Returns all supported versions.
     *
     * @return oldest first
     */
    public static List<Isa> all() {
        return ALL;
    }

    /**
     * Finds the table for the version required by a module: same major, minor at least as high.
     *
     * @param major the module's major version
     * @param minor the module's minor version
     * @return the table, or null when this runtime has none
     */
    public static @Nullable Isa find(int major, int minor) {
        for (Isa isa : ALL) {
            if (isa.major == major && minor <= isa.minor) {
                return isa;
            }
        }
        return null;
    }

    /**
     * Returns the major version.
     *
     * @return for example 17
     */
    public int major() {
        return major;
    }

    /**
     * Returns the minor version.
     *
     * @return for example 0
     */
    public int minor() {
        return minor;
    }

    /**
     * Returns the features available as requirements in modules of this version.
     *
     * @return {@link FeatureBits}
     */
    public int features() {
        return features;
    }

    /**
     * Returns whether a MOVE bit empties the register wherever the operation allows a MOVE bit. Otherwise bits on
     * single registers and on arguments of imports are ignored.
     *
     * @return false for version 15
     */
    public boolean movesEverywhere() {
        return movesEverywhere;
    }

    /**
     * Returns all rows, core first.
     *
     * @return the rows in order of their groups and numbers
     */
    public List<Opcode> opcodes() {
        return opcodes;
    }

    /**
     * Finds the row of a number.
     *
     * @param set the group
     * @param number 0 to 255
     * @return the row, or null when the number is reserved
     */
    public @Nullable Opcode opcode(OpcodeSet set, int number) {
        return byNumber[set.ordinal()][number];
    }

    /**
     * Finds the row of an operation.
     *
     * @param op an operation of {@link Op}
     * @return the row, or null when this version does not have the operation
     */
    public @Nullable Opcode opcode(int op) {
        return byOp[op];
    }

    /**
     * Finds the row of a mnemonic.
     *
     * @param mnemonic without the leading {@code vm.}, for example {@code add.i32}
     * @return the row, or null when there is none
     */
    public @Nullable Opcode opcode(String mnemonic) {
        return byMnemonic.get(mnemonic);
    }

    /**
     * Returns the prefix byte of a group.
     *
     * @param set the group
     * @return the prefix, or -1 when the group has none
     */
    public int prefix(OpcodeSet set) {
        return prefixes.getOrDefault(set, -1);
    }

    /**
     * Finds the group with a given prefix byte.
     *
     * @param first 0 to 255
     * @return the group, or null when the byte is not a prefix
     */
    public @Nullable OpcodeSet setOf(int first) {
        return setByPrefix[first];
    }

    @Override
    public String toString() {
        return major + "." + minor;
    }
}
