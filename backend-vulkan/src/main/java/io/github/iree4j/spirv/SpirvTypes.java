package io.github.iree4j.spirv;

import static io.github.iree4j.spirv.SpirvOp.*;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Types and constants of a module, as far as relevant to sizes. References are to earlier definitions only. */
final class SpirvTypes {
    /** An unknown size or value. */
    private static final long UNKNOWN = -1;

    /** Upper bound of sizes. */
    private static final long HUGE = Long.MAX_VALUE / 4;

    private static final int BOOL_BYTES = 4; // the layout of drivers in workgroup memory

    /**
     * A type: the size without explicit layout, and the elements. For arrays of arrays the innermost element and the
     * product of lengths, computed at the definition, so that types need not be traversed.
     */
    private record Type(int op, long bytes, int element, long length) {}

    private final int[] specialization;
    private final Set<Integer> defined = new HashSet<>();
    private final Map<Integer, Type> types = new HashMap<>();
    private final Map<Integer, Long> values = new HashMap<>(); // of constants
    private final Map<Integer, int[]> composites = new HashMap<>(); // of constants
    private final Map<Integer, Integer> specIds = new HashMap<>();
    private final Map<Integer, Integer> strides = new HashMap<>();
    private final Map<Long, Integer> memberOffsets = new HashMap<>();
    private final Map<Long, Integer> memberStrides = new HashMap<>();
    private final Map<Integer, Boolean> bufferBlocks = new HashMap<>();

    SpirvTypes(int[] specialization) {
        this.specialization = specialization;
    }

    static long multiply(long a, long b) {
        return a <= 0 || b <= 0 ? 0 : a > HUGE / b ? HUGE : a * b;
    }

    private static long add(long a, long b) {
        return Math.min(HUGE, a + b);
    }

    /** Returns the index of the result operand; -1 for an instruction other than a known definition. */
    static int resultIndex(int op) {
        return switch (op) {
            case TYPE_BOOL, TYPE_INT, TYPE_FLOAT, TYPE_VECTOR, TYPE_MATRIX -> 0;
            case TYPE_ARRAY, TYPE_RUNTIME_ARRAY, TYPE_STRUCT, TYPE_POINTER -> 0;
            case CONSTANT_TRUE, CONSTANT_FALSE, CONSTANT, CONSTANT_COMPOSITE -> 1;
            case SPEC_CONSTANT_TRUE, SPEC_CONSTANT_FALSE, SPEC_CONSTANT, SPEC_CONSTANT_COMPOSITE -> 1;
            case SPEC_CONSTANT_OP -> 1;
            default -> -1;
        };
    }

    void decorate(int target, int decoration, int value) {
        switch (decoration) {
            case DECORATION_SPEC_ID -> specIds.put(target, value);
            case DECORATION_ARRAY_STRIDE -> strides.put(target, value);
            case DECORATION_BUFFER_BLOCK -> bufferBlocks.put(target, true);
            default -> throw new IllegalArgumentException("decoration " + decoration);
        }
    }

    void decorateMember(int struct, int member, int decoration, int value) {
        if (decoration == DECORATION_OFFSET) {
            memberOffsets.put(key(struct, member), value);
        } else if (decoration == DECORATION_MATRIX_STRIDE) {
            memberStrides.put(key(struct, member), value);
        }
    }

    private static long key(int struct, int member) {
        return (long) struct << 32 | Integer.toUnsignedLong(member);
    }

    void define(int op, int at, int[] o) {
        int result = resultIndex(op);
        if (result < 0) {
            return;
        }
        if (o.length < minimum(op)) {
            throw SpirvReader.damaged(
                    "instruction %d at word %d has %d words, which is too short", op, at, o.length + 1);
        }
        if (!defined.add(o[result])) {
            throw SpirvReader.damaged("identifier %d is defined twice, again at word %d", o[result], at);
        }
        switch (op) {
            case TYPE_BOOL -> types.put(o[0], new Type(op, BOOL_BYTES, 0, 0));
            case TYPE_INT, TYPE_FLOAT -> types.put(o[0], new Type(op, (o[1] & 0xFFL) / 8, 0, 0));
            case TYPE_VECTOR, TYPE_MATRIX -> {
                long length = Integer.toUnsignedLong(o[2]);
                types.put(o[0], new Type(op, multiply(type(o[1]).bytes(), length), o[1], length));
            }
            case TYPE_ARRAY -> {
                Type element = type(o[1]);
                Integer stride = strides.get(o[0]);
                long bytes = stride == null ? element.bytes() : Integer.toUnsignedLong(stride);
                boolean nested = element.op() == TYPE_ARRAY || element.op() == TYPE_RUNTIME_ARRAY;
                long length = value(o[2]);
                types.put(
                        o[0],
                        new Type(
                                op,
                                multiply(bytes, length),
                                nested ? element.element() : o[1],
                                nested ? multiply(length, element.length()) : length));
            }
            case TYPE_RUNTIME_ARRAY -> types.put(o[0], new Type(op, 0, o[1], 0));
            case TYPE_STRUCT -> types.put(o[0], struct(o));
            case TYPE_POINTER -> types.put(o[0], new Type(op, 8, o[2], 0));
            case CONSTANT_TRUE -> values.put(o[1], 1L);
            case CONSTANT_FALSE -> values.put(o[1], 0L);
            case CONSTANT -> values.put(o[1], literal(o));
            case SPEC_CONSTANT_TRUE, SPEC_CONSTANT_FALSE, SPEC_CONSTANT -> values.put(o[1], specialized(op, o));
            case CONSTANT_COMPOSITE, SPEC_CONSTANT_COMPOSITE ->
                composites.put(o[1], Arrays.copyOfRange(o, 2, o.length));
            case SPEC_CONSTANT_OP -> values.put(o[1], computed(o));
            default -> {
                // irrelevant to sizes
            }
        }
    }

    private static int minimum(int op) {
        return switch (op) {
            case TYPE_BOOL, TYPE_STRUCT -> 1;
            case TYPE_INT, TYPE_VECTOR, TYPE_MATRIX, TYPE_ARRAY, TYPE_POINTER, CONSTANT, SPEC_CONSTANT -> 3;
            case SPEC_CONSTANT_OP -> 3;
            default -> 2;
        };
    }

    private Type struct(int[] o) {
        long bytes = 0;
        for (int i = 1; i < o.length; i++) {
            Type member = type(o[i]);
            Integer offset = memberOffsets.get(key(o[0], i - 1));
            Integer stride = memberStrides.get(key(o[0], i - 1));
            long own = member.op() == TYPE_MATRIX && stride != null
                    ? multiply(Integer.toUnsignedLong(stride), member.length())
                    : member.bytes();
            bytes = offset == null ? add(bytes, own) : Math.max(bytes, add(Integer.toUnsignedLong(offset), own));
        }
        return new Type(TYPE_STRUCT, bytes, 0, 0);
    }

    /** Returns a type. An undefined identifier is an unknown type, or a pointer declared ahead. */
    private Type type(int id) {
        Type type = types.get(id);
        return type == null ? new Type(0, 8, 0, 0) : type;
    }

    private static long literal(int[] o) {
        return o.length > 3 && o[3] != 0 ? UNKNOWN : Integer.toUnsignedLong(o[2]);
    }

    private long specialized(int op, int[] o) {
        Integer specId = specIds.get(o[1]);
        if (specId != null && specId >= 0 && specId < specialization.length) {
            return Integer.toUnsignedLong(specialization[specId]);
        }
        return op == SPEC_CONSTANT ? literal(o) : op == SPEC_CONSTANT_TRUE ? 1 : 0;
    }

    private long computed(int[] o) {
        if (o.length < 5) {
            return UNKNOWN;
        }
        if (o[2] == COMPOSITE_EXTRACT) {
            int[] parts = composites.get(o[3]);
            return parts == null || o[4] < 0 || o[4] >= parts.length ? UNKNOWN : value(parts[o[4]]);
        }
        long a = value(o[3]);
        long b = value(o[4]);
        if (a < 0 || b < 0) {
            return UNKNOWN;
        }
        return switch (o[2]) {
            case I_ADD -> a + b & 0xFFFF_FFFFL;
            case I_SUB -> a - b & 0xFFFF_FFFFL;
            case I_MUL -> a * b & 0xFFFF_FFFFL;
            case U_DIV -> b == 0 ? UNKNOWN : a / b;
            default -> UNKNOWN;
        };
    }

    /** Returns the value of an integer constant; negative when unknown. */
    long value(int id) {
        return values.getOrDefault(id, UNKNOWN);
    }

    /** Returns the values of a constant's components; null without components, 0 for unknown values. */
    int @Nullable [] components(int id) {
        int[] parts = composites.get(id);
        if (parts == null) {
            return null;
        }
        int[] result = new int[parts.length];
        for (int i = 0; i < parts.length; i++) {
            long value = value(parts[i]);
            result[i] = value < 0 || value > Integer.MAX_VALUE ? 0 : (int) value;
        }
        return result;
    }

    /** Returns the offset of a struct member, bytes; negative when unknown. */
    long memberOffset(int struct, long member) {
        Integer offset = member < 0 || member > Integer.MAX_VALUE ? null : memberOffsets.get(key(struct, (int) member));
        return offset == null ? UNKNOWN : Integer.toUnsignedLong(offset);
    }

    /** Returns the pointee of a pointer type. */
    int pointee(int type, int at) {
        Type pointer = types.get(type);
        if (pointer == null || pointer.op() != TYPE_POINTER) {
            throw SpirvReader.damaged("the type %d of the variable at word %d is not a pointer", type, at);
        }
        return pointer.element();
    }

    long size(int type) {
        Type known = types.get(type);
        return known == null ? 0 : known.bytes();
    }

    /** Returns the element type of an array, or the given type if not an array. */
    int element(int type) {
        Type known = types.get(type);
        return known != null && isArray(known) ? known.element() : type;
    }

    /** Returns the number of elements of an array, 1 for other types; not positive when unknown or open. */
    long count(int type) {
        Type known = types.get(type);
        return known != null && isArray(known) ? known.length() : 1;
    }

    private static boolean isArray(Type type) {
        return type.op() == TYPE_ARRAY || type.op() == TYPE_RUNTIME_ARRAY;
    }

    boolean isBufferBlock(int type) {
        return bufferBlocks.containsKey(type);
    }
}
