package io.github.iree4j.tensor;

import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;

/** Arrays filled with a single number. */
public final class Fills {
    private Fills() {}

    /**
     * Creates equal elements on the Java heap.
     *
     * @throws IreeException INVALID_ARGUMENT and OUT_OF_RANGE when the type cannot represent the number;
     *     RESOURCE_EXHAUSTED when there is no memory
     */
    public static MemorySegment filled(ElementType type, Shape shape, double number) {
        MemorySegment data = HeapElements.allocate(ElementCodec.byteSize(type, shape.elementCount()));
        if (number == 0 && Math.copySign(1, number) > 0 || data.byteSize() == 0) {
            return data; // zero bits are zero in every number type
        }
        MemorySegment one = encoded(type, number);
        data.asSlice(0, one.byteSize()).copyFrom(one);
        for (long done = one.byteSize(); done < data.byteSize(); ) {
            long part = Math.min(done, data.byteSize() - done);
            MemorySegment.copy(data, 0, data, done, part);
            done += part;
        }
        return data;
    }

    /** Returns the bytes of a number. */
    public static MemorySegment encoded(ElementType type, double number) {
        if (!type.isByteAligned()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "elements of type %s share a byte, and cannot be added one by one".formatted(type));
        }
        MemorySegment one = HeapElements.allocate(ElementCodec.byteSize(type, 1));
        ElementCodec codec = ElementCodec.of(type);
        if (codec.kind() == ElementCodec.Kind.FLOAT) {
            codec.putDouble(one, 0, number);
        } else if (number == 0) {
            return one;
        } else if (number == Math.rint(number) && Math.abs(number) <= 0x1p53) {
            codec.putLong(one, 0, (long) number);
        } else {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "%s is not a number of element type %s".formatted(number, type));
        }
        return one;
    }
}
