package io.github.iree4j.spirv;

import static io.github.iree4j.spirv.SpirvOp.*;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Determines the possibly written slots of the address table, for code using buffer addresses instead of descriptors.
 * As emitted by compilers, such code combines the address of the table from two words of the push constants, and loads
 * the address of a buffer from a slot of the table:
 *
 * <pre>
 *   word, word    loads from push constants                       } the table's address, as long as nothing is added to it
 *   table         the words, shifted, joined, made a pointer      }
 *   slot          member of the table: a number that is constant
 *   address       load of a slot: the buffer's, whatever is added to it
 * </pre>
 *
 * A store through an untraceable pointer may go anywhere: then all buffers count as written. A number loaded from a
 * buffer, passed to a function or kept in a variable is such a pointer, if converted to a pointer. So a buffer may
 * wrongly count as written, but never wrongly as unwritten, unless code computes the address of a buffer from the
 * address of another buffer. Instructions come in the order of the module, with operands defined before use, except for
 * operands of PHI.
 */
final class SpirvAddresses {
    /** The bit mask of all buffers. */
    static final long ALL = -1;

    private static final int SLOT_BYTES = Long.BYTES;
    private static final int SLOTS = Long.SIZE;
    private static final int HALF = 32;

    private final IntUnaryOperator words;
    private final SpirvTypes types;
    private final Set<Integer> pointerTypes = new HashSet<>(); // to memory by address
    private final Map<Integer, Integer> pointers = new HashMap<>(); // pointers of these types, with the type
    private final Set<Integer> pushed = new HashSet<>(); // pointers into push constants
    private final Set<Integer> table = new HashSet<>(); // the table's address, or a half of it
    // computed from the table's address: an address within the table, or a constant
    private final Set<Integer> near = new HashSet<>();
    private final Map<Integer, Integer> slots = new HashMap<>(); // by pointer
    // by value: slots used to compute the value, a bit for each
    private final Map<Integer, Long> buffers = new HashMap<>();
    private final Set<Integer> joined = new HashSet<>(); // operands of PHI, defined before or after the PHI
    private long written;

    /**
     * Creates the analysis of a module.
     *
     * @param words the words by index
     * @param types the types defined so far
     */
    SpirvAddresses(IntUnaryOperator words, SpirvTypes types) {
        this.words = words;
        this.types = types;
    }

    /** Adds a pointer type of a storage class. */
    void definePointer(int type, int storage) {
        if (storage == STORAGE_PHYSICAL) {
            pointerTypes.add(type);
        }
    }

    /** Adds a variable of push constants. */
    void definePushed(int variable) {
        pushed.add(variable);
    }

    /**
     * Adds an instruction of a function.
     *
     * @param op number of the instruction
     * @param at first word of the instruction
     * @param count word count of the instruction
     */
    void add(int op, int at, int count) {
        if (count > 2 && pointerTypes.contains(word(at, 1))) {
            pointers.put(word(at, 2), word(at, 1));
        }
        switch (op) {
            case LOAD -> {
                if (count > 3) {
                    load(word(at, 2), word(at, 3));
                }
            }
            case ACCESS_CHAIN, IN_BOUNDS_ACCESS_CHAIN -> {
                if (count > 3) {
                    access(word(at, 2), word(at, 3), at, count);
                }
            }
            case PTR_ACCESS_CHAIN, IN_BOUNDS_PTR_ACCESS_CHAIN -> compute(at, 3, Math.min(4, count), false);
            case U_CONVERT, CONVERT_PTR_TO_U, CONVERT_U_TO_PTR, BITCAST, COPY_OBJECT, COMPOSITE_CONSTRUCT, BITWISE_OR ->
                compute(at, 3, count, true);
            case SHIFT_LEFT_LOGICAL ->
                compute(at, 3, Math.min(4, count), count > 4 && types.value(word(at, 4)) == HALF);
            case S_CONVERT, I_ADD, I_SUB, I_MUL, SELECT, BITWISE_AND, BITWISE_XOR -> compute(at, 3, count, false);
            case COMPOSITE_EXTRACT -> compute(at, 3, Math.min(4, count), false);
            case PHI -> {
                compute(at, 3, count, false);
                for (int i = 3; i < count; i += 2) {
                    joined.add(word(at, i));
                }
            }
            case STORE -> {
                if (count > 1) {
                    store(word(at, 1));
                }
            }
            case EXT_INST -> mayStore(at, 5, count); // after set and number
            case ATOMIC_LOAD, ARRAY_LENGTH, COOPERATIVE_MATRIX_LOAD, LINE, VECTOR_SHUFFLE, COMPOSITE_INSERT -> {
                // stores nothing; a pointer in a composite was not followed
            }
            default -> {
                if (op != FUNCTION_PARAMETER && (op < LOOP_MERGE || op > UNREACHABLE)) { // except control flow
                    boolean isPointer = count > 2 && pointerTypes.contains(word(at, 1));
                    mayStore(at, isPointer ? 3 : 1, count);
                }
            }
        }
    }

    private void mayStore(int at, int from, int to) {
        for (int i = from; i < to; i++) {
            store(word(at, i));
        }
    }

    private int word(int at, int index) {
        return words.applyAsInt(at + index);
    }

    private void load(int result, int pointer) {
        Integer slot = slots.get(pointer);
        if (slot != null) {
            is(result, 1L << slot);
        } else if (pushed.contains(pointer)) {
            table.add(result);
        } else if (table.contains(pointer) || near.contains(pointer)) {
            is(result, ALL); // an unknown slot
        }
    }

    private void access(int result, int base, int at, int count) {
        if (pushed.contains(base)) {
            pushed.add(result);
        } else if (buffers.containsKey(base)) {
            is(result, buffers.get(base));
        } else if (table.contains(base)) {
            int slot = slots.containsKey(base) ? -1 : slot(pointers.get(base), at, count);
            if (slot >= 0) {
                slots.put(result, slot);
            }
            near.add(result);
        } else if (near.contains(base)) {
            near.add(result);
        }
    }

    /** Returns the slot selected by the indices of an access chain; negative when unknown. */
    private int slot(@Nullable Integer pointer, int at, int count) {
        if (pointer == null || count != 5) {
            return -1;
        }
        long member = types.value(word(at, 4));
        long offset = types.memberOffset(types.pointee(pointer, at), member);
        return offset < 0 || offset % SLOT_BYTES != 0 || offset / SLOT_BYTES >= SLOTS
                ? -1
                : (int) (offset / SLOT_BYTES);
    }

    /** Adds a value computed from other values: exactly the combination of the others, or an address near the combination. */
    private void compute(int at, int from, int to, boolean exact) {
        if (from >= to) {
            return;
        }
        int result = word(at, 2);
        long all = 0;
        boolean some = false;
        boolean each = exact;
        for (int i = from; i < to; i++) {
            int value = word(at, i);
            all |= buffers.getOrDefault(value, 0L);
            boolean ofTable = table.contains(value);
            some |= ofTable || near.contains(value);
            each &= ofTable && !slots.containsKey(value);
        }
        if (all != 0) {
            is(result, all);
        } else if (some) {
            (each ? table : near).add(result);
        }
    }

    private void is(int value, long from) {
        buffers.put(value, from);
        if (joined.contains(value)) {
            written |= from; // the effect of a loop was not traced
        }
    }

    /** Records a possible store through a value, if the value is a pointer. */
    private void store(int value) {
        if (pointers.containsKey(value)) {
            long from = buffers.getOrDefault(value, 0L);
            written |= from == 0 ? ALL : from;
        }
    }

    /**
     * Returns the possibly written slots, once the module has been read.
     *
     * @return a bit for each of the first 64 slots of the table; all bits when unknown
     */
    long written() {
        return written;
    }
}
