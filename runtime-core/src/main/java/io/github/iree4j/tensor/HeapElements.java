package io.github.iree4j.tensor;

import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;

/** Creates elements on the Java heap from Java values, by the conversion rules of {@code Tensor}. */
public final class HeapElements {
    private HeapElements() {}

    /** Allocates zeroed bytes. */
    public static MemorySegment allocate(long size) {
        long words = Math.ceilDiv(size, Long.BYTES);
        if (words > Integer.MAX_VALUE - 8) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "a tensor of %d bytes does not fit a Java array (16 GB); wrap native memory instead"
                            .formatted(size));
        }
        try {
            return MemorySegment.ofArray(new long[(int) words]).asSlice(0, size);
        } catch (OutOfMemoryError e) {
            throw IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "a tensor of %d bytes does not fit the Java heap".formatted(size),
                    e);
        }
    }

    /** Returns the shape passed by a caller for an array; a single dimension without passed dimensions. */
    public static Shape shape(ElementType type, int length, long[] dimensions) {
        if (dimensions.length == 0) {
            return Shape.of(length);
        }
        Shape shape = Shape.of(dimensions);
        if (shape.elementCount() != length) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "array of %d elements does not fill %s, which has %d"
                            .formatted(length, shape.format(type), shape.elementCount()));
        }
        return shape;
    }

    public static MemorySegment ofReals(ElementType type, float[] values) {
        MemorySegment data = allocate(ElementCodec.byteSize(type, values.length));
        ElementCodec codec = ElementCodec.of(type);
        for (int i = 0; i < values.length; i++) {
            codec.putDouble(data, i, values[i]);
        }
        return data;
    }

    public static MemorySegment ofIntegers(ElementType type, long[] values) {
        ElementCodec codec = ElementCodec.of(type);
        if (codec.kind() == ElementCodec.Kind.FLOAT) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "element type %s is not an integer type; use of(type, float[])".formatted(type));
        }
        MemorySegment data = allocate(ElementCodec.byteSize(type, values.length));
        for (int i = 0; i < values.length; i++) {
            codec.putLong(data, i, values[i]);
        }
        return data;
    }

    public static MemorySegment ofBooleans(boolean[] values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) (values[i] ? 1 : 0);
        }
        return MemorySegment.ofArray(bytes);
    }

    public static MemorySegment ofScalar(ElementType type, Object value) {
        MemorySegment data = allocate(ElementCodec.byteSize(type, 1));
        ElementCodec codec = ElementCodec.of(type);
        if (codec.kind() == ElementCodec.Kind.FLOAT) {
            codec.putDouble(data, 0, ((Number) value).doubleValue());
        } else {
            codec.putLong(data, 0, value instanceof Boolean b ? (b ? 1 : 0) : ((Number) value).longValue());
        }
        return data;
    }
}
