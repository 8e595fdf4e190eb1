package io.github.iree4j.vm.isa;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The instruction set of one bytecode version: its opcode numbers, prefixes and operations.
 *
 * <p>Taken from {@code iree/vm/bytecode/isa/isa.json}. Immutable.
 */
public final class Isa {
    /** Bytecode 17.0, of IREE 3.11 and later. */
    public static final Isa V17_0 = new Isa(
            17,
            0,
            Map.of(OpcodeSet.EXT_F32, 0xE0, OpcodeSet.EXT_F64, 0xE1),
            CoreOpcodes17.CORE,
            FloatOpcodes17.F32_ROWS,
            FloatOpcodes17.F64_ROWS);

    private static final int NUMBERS = 256;

    private final int major;
    private final int minor;
    private final Map<OpcodeSet, Integer> prefixes;
    private final @Nullable OpcodeSet[] setByPrefix = new OpcodeSet[NUMBERS];
    private final @Nullable Opcode[][] byNumber = new Opcode[OpcodeSet.values().length][NUMBERS];
    private final @Nullable Opcode[] byOp = new Opcode[Op.COUNT];
    private final Map<String, Opcode> byMnemonic = new HashMap<>();
    private final List<Opcode> opcodes;

    @SafeVarargs
    private Isa(int major, int minor, Map<OpcodeSet, Integer> prefixes, List<Opcode>... tables) {
        this.major = major;
        this.minor = minor;
        this.prefixes = Map.copyOf(prefixes);
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

    /**
     * Finds the table for the version a module asks for: same major, minor at least as high.
     *
     * @param major the module's major version
     * @param minor the module's minor version
     * @return the table, or null when this runtime has none
     */
    public static @Nullable Isa find(int major, int minor) {
        return major == V17_0.major && minor <= V17_0.minor ? V17_0 : null;
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
     * @param op one of {@link Op}
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
     * Returns the byte that comes before numbers of a group.
     *
     * @param set the group
     * @return the prefix, or -1 when the group has none
     */
    public int prefix(OpcodeSet set) {
        return prefixes.getOrDefault(set, -1);
    }

    /**
     * Finds the group that a byte is the prefix of.
     *
     * @param first 0 to 255
     * @return the group, or null when the byte is no prefix
     */
    public @Nullable OpcodeSet setOf(int first) {
        return setByPrefix[first];
    }

    @Override
    public String toString() {
        return major + "." + minor;
    }
}
