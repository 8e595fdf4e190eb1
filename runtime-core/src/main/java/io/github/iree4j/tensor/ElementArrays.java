package io.github.iree4j.tensor;

import io.github.iree4j.hal.ElementType;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;

/** Copies elements into Java arrays, by the conversion rules of {@code Tensor}. */
public final class ElementArrays {
    private ElementArrays() {}

    public static float[] floats(ElementType type, MemorySegment data, int length) {
        float[] out = new float[length];
        ElementCodec codec = ElementCodec.of(type);
        if (codec.isFloat32()) {
            MemorySegment.copy(data, ElementCodec.F32, 0, out, 0, length);
            return out;
        }
        for (int i = 0; i < length; i++) {
            out[i] = (float) codec.getDouble(data, i);
        }
        return out;
    }

    public static double[] doubles(ElementType type, MemorySegment data, int length) {
        double[] out = new double[length];
        ElementCodec codec = ElementCodec.of(type);
        for (int i = 0; i < length; i++) {
            out[i] = codec.getDouble(data, i);
        }
        return out;
    }

    public static int[] ints(ElementType type, MemorySegment data, int length) {
        int[] out = new int[length];
        ElementCodec codec = ElementCodec.of(type);
        if (codec.isInteger(32)) {
            MemorySegment.copy(data, ElementCodec.I32, 0, out, 0, length);
            return out;
        }
        for (int i = 0; i < length; i++) {
            out[i] = (int) narrowed(codec, data, i, 32);
        }
        return out;
    }

    public static long[] longs(ElementType type, MemorySegment data, int length) {
        long[] out = new long[length];
        ElementCodec codec = ElementCodec.of(type);
        for (int i = 0; i < length; i++) {
            out[i] = codec.getLong(data, i);
        }
        return out;
    }

    public static short[] shorts(ElementType type, MemorySegment data, int length) {
        short[] out = new short[length];
        ElementCodec codec = ElementCodec.of(type);
        for (int i = 0; i < length; i++) {
            out[i] = (short) narrowed(codec, data, i, 16);
        }
        return out;
    }

    public static byte[] bytes(ElementType type, MemorySegment data, int length) {
        byte[] out = new byte[length];
        ElementCodec codec = ElementCodec.of(type);
        for (int i = 0; i < length; i++) {
            out[i] = (byte) narrowed(codec, data, i, 8);
        }
        return out;
    }

    public static boolean[] booleans(ElementType type, MemorySegment data, int length) {
        boolean[] out = new boolean[length];
        ElementCodec codec = ElementCodec.of(type);
        for (int i = 0; i < length; i++) {
            out[i] = codec.getLong(data, i) != 0;
        }
        return out;
    }

    private static long narrowed(ElementCodec codec, MemorySegment data, long index, int width) {
        long value = codec.getLong(data, index);
        int unused = 64 - width;
        if (value << unused >> unused != value && codec.bits() != width) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE,
                    "element %d is %d, which does not fit %d bits; use a wider array".formatted(index, value, width));
        }
        return value;
    }

    /** Returns the element type of a boxed primitive. */
    public static ElementType scalarType(Object value) {
        return switch (value) {
            case Float _ -> ElementType.F32;
            case Double _ -> ElementType.F64;
            case Integer _ -> ElementType.I32;
            case Long _ -> ElementType.I64;
            case Short _ -> ElementType.I16;
            case Byte _ -> ElementType.I8;
            case Boolean _ -> ElementType.BOOL_8;
            default ->
                throw IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "a scalar cannot be made from a " + value.getClass().getName());
        };
    }
}
