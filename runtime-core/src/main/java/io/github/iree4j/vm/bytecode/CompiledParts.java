package io.github.iree4j.vm.bytecode;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The compiled parts of a function, and the code through which the interpreter enters the parts. Immutable.
 *
 * <p>VM-3: a thread reading the code of a function after this object was set sees the parts entered by the code.
 */
final class CompiledParts {
    /** A value never returned by a part: the interpreter has to continue without the part. */
    static final int NOT_NOW = Integer.MIN_VALUE;

    /** The function's code with {@link Code#ENTER} at each entry. */
    final long[] code;

    private final int[] pcs;
    private final CompiledUnit[] units;
    private final int[] indices;

    private CompiledParts(long[] code, int[] pcs, CompiledUnit[] units, int[] indices) {
        this.code = code;
        this.pcs = pcs;
        this.units = units;
        this.indices = indices;
    }

    /** Adds entries of a unit; existing entries stay as they are. */
    static CompiledParts add(
            FunctionCode function, @Nullable CompiledParts known, int[] pcs, CompiledUnit unit, int[] indices) {
        int before = known == null ? 0 : known.pcs.length;
        int[] allPcs = known == null ? new int[pcs.length] : Arrays.copyOf(known.pcs, before + pcs.length);
        CompiledUnit[] allUnits =
                known == null ? new CompiledUnit[pcs.length] : Arrays.copyOf(known.units, allPcs.length);
        int[] allIndices = known == null ? new int[pcs.length] : Arrays.copyOf(known.indices, allPcs.length);
        long[] code = (known == null ? function.code : known.code).clone();
        int count = before;
        for (int i = 0; i < pcs.length; i++) {
            if ((char) code[pcs[i]] != Code.ENTER) {
                code[pcs[i]] = Code.packWide(Code.ENTER, 0, count);
                allPcs[count] = pcs[i];
                allUnits[count] = unit;
                allIndices[count++] = indices[i];
            }
        }
        return new CompiledParts(
                code, Arrays.copyOf(allPcs, count), Arrays.copyOf(allUnits, count), Arrays.copyOf(allIndices, count));
    }

    /** Returns the entry at an index of the code; negative when there is none. */
    int entryAt(int pc) {
        long w = code[pc];
        return (char) w == Code.ENTER ? (int) (w >>> Integer.SIZE) : -1;
    }

    int entries() {
        return pcs.length;
    }

    int run(int entry, Execution x, Frame frame, BytecodeState state) {
        return units[entry].part(indices[entry], x, frame, state);
    }
}
