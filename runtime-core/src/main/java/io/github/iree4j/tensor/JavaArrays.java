package io.github.iree4j.tensor;

import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Array;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Converts Java arrays and numbers passed as arguments to elements. The function's declaration decides: floats become
 * any float type, integers become any integer type able to hold the values, and a flat array takes a declared shape
 * determined by the array's length. Without a declaration an array keeps the array's type and nesting.
 */
public final class JavaArrays {
    private JavaArrays() {}

    /**
     * Creates the elements of an argument, perhaps sharing the array.
     *
     * @param input an array, a number or a boolean
     * @param wanted the declared type; null where unknown
     * @throws IreeException INVALID_ARGUMENT or OUT_OF_RANGE when the input does not fit
     */
    public static TensorElements toElements(Object input, @Nullable TensorType wanted) {
        if (!input.getClass().isArray()) {
            return scalar(input, wanted);
        }
        Shape nesting = nesting(input);
        Object flat = nesting.rank() == 1 ? input : flatten(input, nesting);
        Shape shape = wanted == null ? nesting : shape(nesting, wanted);
        ElementType natural = natural(flat);
        ElementType type = wanted == null ? natural : wanted.type();
        if (type.bitCount() == natural.bitCount() && sameKind(type, natural)) {
            return sameBits(flat, type, shape);
        }
        if (type.isFloat() && natural.isFloat()) {
            return converted(flat, type, shape, (codec, data, i) -> codec.putDouble(data, i, Array.getDouble(flat, i)));
        }
        if ((type.isInteger() || type.isBoolean()) && natural.isInteger()) {
            return converted(flat, type, shape, (codec, data, i) -> codec.putLong(data, i, Array.getLong(flat, i)));
        }
        if (type.isInteger() && flat instanceof boolean[] values) {
            return converted(flat, type, shape, (codec, data, i) -> codec.putLong(data, i, values[i] ? 1 : 0));
        }
        throw invalid("%s does not convert to %s".formatted(flat.getClass().getSimpleName(), type));
    }

    private static TensorElements scalar(Object input, @Nullable TensorType wanted) {
        ElementType natural = ElementArrays.scalarType(input); // refuses lossy conversions, such as of BigInteger
        if (wanted == null) {
            return new TensorElements(natural, Shape.SCALAR, HeapElements.ofScalar(natural, input));
        }
        if (wanted.shape().length > 0) {
            throw invalid(
                    "%s %s is a scalar; wanted %s".formatted(input.getClass().getSimpleName(), input, wanted));
        }
        ElementType type = wanted.type();
        TensorElements elements = TensorElements.zeros(type, Shape.SCALAR);
        ElementCodec codec = ElementCodec.of(type);
        boolean real = input instanceof Float || input instanceof Double;
        if (type.isFloat() && input instanceof Number number) {
            codec.putDouble(elements.host(), 0, number.doubleValue());
        } else if (!type.isFloat() && !real) {
            codec.putLong(elements.host(), 0, input instanceof Boolean b ? (b ? 1 : 0) : ((Number) input).longValue());
        } else {
            throw invalid("%s does not convert to %s".formatted(input.getClass().getSimpleName(), type));
        }
        return elements;
    }

    /** Returns the dimensions of a nested array, as given by the first elements. */
    private static Shape nesting(Object array) {
        int rank = 0;
        long[] lengths = new long[8];
        for (Object level = array; level != null && level.getClass().isArray(); rank++) {
            if (rank == Shape.MAXIMUM_RANK) {
                throw invalid("array is nested more than %d deep".formatted(rank));
            }
            lengths = rank == lengths.length ? Arrays.copyOf(lengths, rank * 2) : lengths;
            int length = Array.getLength(level);
            lengths[rank] = length;
            if (level.getClass().getComponentType().isPrimitive()) {
                return Shape.of(Arrays.copyOf(lengths, rank + 1));
            }
            level = length == 0 ? null : Array.get(level, 0);
        }
        throw invalid("%s is not an array of numbers".formatted(array.getClass().getSimpleName()));
    }

    private static Object flatten(Object array, Shape nesting) {
        long count = nesting.elementCount();
        if (count > Integer.MAX_VALUE - 8) {
            throw invalid("array of %d elements is too long; wrap native memory instead".formatted(count));
        }
        // Determined by the first row, not by the declared type: an Object[] may hold float[] as well.
        Object row = array;
        for (int i = 1; i < nesting.rank(); i++) {
            row = Array.get(row, 0);
        }
        Object flat = Array.newInstance(row.getClass().getComponentType(), (int) count);
        copy(array, nesting.dimensions(), 0, flat, 0);
        return flat;
    }

    private static int copy(@Nullable Object level, long[] nesting, int depth, Object flat, int at) {
        if (level != null && !level.getClass().isArray()) {
            throw invalid("array holds a %s at depth %d, where arrays were before"
                    .formatted(level.getClass().getSimpleName(), depth));
        }
        if (level == null || Array.getLength(level) != nesting[depth]) {
            throw invalid("array is ragged: %s elements at depth %d, %d before"
                    .formatted(level == null ? "null instead of" : Array.getLength(level), depth, nesting[depth]));
        }
        int length = (int) nesting[depth];
        if (depth == nesting.length - 1) {
            if (level.getClass() != flat.getClass()) {
                throw invalid("array holds a %s where a %s was before"
                        .formatted(
                                level.getClass().getSimpleName(),
                                flat.getClass().getSimpleName()));
            }
            System.arraycopy(level, 0, flat, at, length);
            return at + length;
        }
        for (int i = 0; i < length; i++) {
            at = copy(Array.get(level, i), nesting, depth + 1, flat, at);
        }
        return at;
    }

    /** Returns the shape of the tensor: as nested, or as declared where the length of a flat array is unambiguous. */
    private static Shape shape(Shape nesting, TensorType wanted) {
        long[] declared = wanted.shape();
        if (nesting.rank() != 1 || declared.length == 1) {
            return checked(nesting, wanted);
        }
        long known = 1;
        int open = -1;
        for (int i = 0; i < declared.length; i++) {
            if (declared[i] >= 0) {
                known *= declared[i];
            } else if (open >= 0) {
                throw invalid(
                        "a flat array does not say the dimensions of %s; nest it or pass a tensor".formatted(wanted));
            } else {
                open = i;
            }
        }
        long length = nesting.elementCount();
        long[] sizes = declared.clone();
        if (open >= 0 && known > 0 && length % known == 0) {
            sizes[open] = length / known;
        } else if (open >= 0 || known != length) {
            throw invalid("array of %d elements is not a %s".formatted(length, wanted));
        }
        return Shape.of(sizes);
    }

    private static Shape checked(Shape nesting, TensorType wanted) {
        if (!wanted.accepts(wanted.type(), nesting)) {
            throw invalid("is %s; given %s".formatted(wanted, nesting.format(wanted.type())));
        }
        return nesting;
    }

    private static ElementType natural(Object flat) {
        return switch (flat) {
            case float[] _ -> ElementType.F32;
            case double[] _ -> ElementType.F64;
            case int[] _ -> ElementType.I32;
            case long[] _ -> ElementType.I64;
            case short[] _ -> ElementType.I16;
            case byte[] _ -> ElementType.I8;
            case boolean[] _ -> ElementType.BOOL_8;
            default ->
                throw invalid("%s is not an array of numbers"
                        .formatted(flat.getClass().getSimpleName()));
        };
    }

    private static boolean sameKind(ElementType a, ElementType b) {
        return a.equals(b) || (a.isInteger() && b.isInteger());
    }

    private static TensorElements sameBits(Object flat, ElementType type, Shape shape) {
        MemorySegment data = switch (flat) {
            case float[] v -> MemorySegment.ofArray(v);
            case double[] v -> MemorySegment.ofArray(v);
            case int[] v -> MemorySegment.ofArray(v);
            case long[] v -> MemorySegment.ofArray(v);
            case short[] v -> MemorySegment.ofArray(v);
            case byte[] v -> MemorySegment.ofArray(v);
            default -> MemorySegment.ofArray(bytes((boolean[]) flat));
        };
        return TensorElements.shared(type, shape, data); // read once, by the call being prepared: seldom copied
    }

    private static byte[] bytes(boolean[] values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) (values[i] ? 1 : 0);
        }
        return bytes;
    }

    private interface Store {
        void put(ElementCodec codec, MemorySegment data, int index);
    }

    private static TensorElements converted(Object flat, ElementType type, Shape shape, Store store) {
        TensorElements elements = TensorElements.zeros(type, shape);
        ElementCodec codec = ElementCodec.of(type);
        int length = Array.getLength(flat);
        for (int i = 0; i < length; i++) {
            store.put(codec, elements.host(), i);
        }
        return elements;
    }

    private static IreeException invalid(String message) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, message);
    }
}
