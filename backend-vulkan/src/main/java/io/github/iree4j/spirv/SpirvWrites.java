package io.github.iree4j.spirv;

import static io.github.iree4j.spirv.SpirvOp.*;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.IntUnaryOperator;

/**
 * Determines the variables possibly written by a module's code. A pointer into a variable counts as the variable's, at
 * any depth. Instructions known to read through a pointer, or to compute another pointer, store nothing; any other use
 * may store. So a variable may wrongly count as written, but never wrongly as unwritten. Instructions come in the order
 * of the module, with operands defined before use, except for operands of PHI.
 */
final class SpirvWrites {
    private final Map<Integer, Integer> variables = new HashMap<>(); // by pointer
    private final Set<Integer> joined = new HashSet<>(); // operands of PHI, defined before or after the PHI
    private final Set<Integer> written = new HashSet<>();
    private final IntUnaryOperator words;

    /** Creates the analysis of a module, with the words given by index. */
    SpirvWrites(IntUnaryOperator words) {
        this.words = words;
    }

    /** Adds a variable outside of functions. */
    void define(int variable) {
        variables.put(variable, variable);
    }

    /**
     * Adds an instruction of a function.
     *
     * @param op number of the instruction
     * @param at first word of the instruction
     * @param count word count of the instruction
     */
    void add(int op, int at, int count) {
        switch (op) {
            case LOAD, ARRAY_LENGTH, ATOMIC_LOAD, COOPERATIVE_MATRIX_LOAD, LINE, COMPOSITE_EXTRACT -> {
                // stores nothing; the rest are literals
            }
            case ACCESS_CHAIN, IN_BOUNDS_ACCESS_CHAIN, PTR_ACCESS_CHAIN, IN_BOUNDS_PTR_ACCESS_CHAIN, COPY_OBJECT -> {
                Integer variable = count > 3 ? variables.get(word(at, 3)) : null;
                if (variable != null) {
                    int pointer = word(at, 2);
                    variables.put(pointer, variable);
                    if (joined.contains(pointer)) {
                        written.add(variable);
                    }
                }
            }
            case STORE -> mayStore(at, 1, Math.min(3, count));
            case EXT_INST -> mayStore(at, 5, count); // after set and number
            case VECTOR_SHUFFLE, COMPOSITE_INSERT -> mayStore(at, 3, Math.min(5, count));
            case PHI -> {
                for (int i = 3; i < count; i++) {
                    joined.add(word(at, i));
                }
                mayStore(at, 3, count);
            }
            default -> {
                if (op < LOOP_MERGE || op > UNREACHABLE) { // except control flow: no pointers
                    mayStore(at, 1, count);
                }
            }
        }
    }

    private int word(int at, int index) {
        return words.applyAsInt(at + index);
    }

    private void mayStore(int at, int from, int to) {
        for (int i = from; i < to; i++) {
            Integer variable = variables.get(word(at, i));
            if (variable != null) {
                written.add(variable);
            }
        }
    }

    /** Returns whether the variable may be written, once the module has been read. */
    boolean contains(int variable) {
        return written.contains(variable);
    }
}
