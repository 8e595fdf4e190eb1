package io.github.iree4j.spring.serving;

import io.github.iree4j.hal.ElementType;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Element types of the protocol, and their layout in memory. */
enum Datatype {
    BOOL(ElementType.BOOL_8, 0, 1),
    UINT8(ElementType.UI8, 0, 0xFF),
    UINT16(ElementType.UI16, 0, 0xFFFF),
    UINT32(ElementType.UI32, 0, 0xFFFF_FFFFL),
    UINT64(ElementType.UI64, 0, Long.MAX_VALUE),
    INT8(ElementType.SI8, Byte.MIN_VALUE, Byte.MAX_VALUE),
    INT16(ElementType.SI16, Short.MIN_VALUE, Short.MAX_VALUE),
    INT32(ElementType.SI32, Integer.MIN_VALUE, Integer.MAX_VALUE),
    INT64(ElementType.SI64, Long.MIN_VALUE, Long.MAX_VALUE),
    FP16(ElementType.F16),
    BF16(ElementType.BF16),
    FP32(ElementType.F32),
    FP64(ElementType.F64),
    /** Texts or other bytes, each element with an explicit length; the element type is the type of a single byte. */
    BYTES(ElementType.UI8, 0, 0xFF);

    private final ElementType type;
    private final boolean real;
    private final long least;
    private final long most;

    Datatype(ElementType type) {
        this.type = type;
        this.real = true;
        this.least = 0;
        this.most = 0;
    }

    Datatype(ElementType type, long least, long most) {
        this.type = type;
        this.real = false;
        this.least = least;
        this.most = most;
    }

    /** Returns the datatype of the given name; throws INVALID_ARGUMENT, listing the supported datatypes, if the name is unknown. */
    static Datatype of(String name) {
        for (Datatype each : values()) {
            if (each.name().equals(name)) {
                return each;
            }
        }
        throw IreeException.of(
                StatusCode.INVALID_ARGUMENT,
                "datatype '%s' is not supported; there are %s".formatted(shortened(name), Arrays.toString(values())));
    }

    /** Returns the datatype of an element type; null when the protocol has none. */
    static @Nullable Datatype of(ElementType type) {
        for (Datatype each : values()) {
            if (each.type.equals(type)) {
                return each;
            }
        }
        if (type.isInteger() && !type.isUnsigned()) { // signless
            return switch (type.bitCount()) {
                case 8 -> INT8;
                case 16 -> INT16;
                case 32 -> INT32;
                case 64 -> INT64;
                default -> null;
            };
        }
        return null;
    }

    ElementType elementType() {
        return type;
    }

    /** Returns whether elements are floating-point numbers. */
    boolean isReal() {
        return real;
    }

    /** Returns whether an integer is in the datatype's range. */
    boolean holds(long value) {
        return value >= least && value <= most;
    }

    String range() {
        return "%d to %d".formatted(least, most);
    }

    int bytes() {
        return type.bitCount() / 8;
    }

    void put(MemorySegment memory, long index, long value) {
        switch (bytes()) {
            case 1 -> memory.set(ValueLayout.JAVA_BYTE, index, (byte) value);
            case 2 -> memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, 2 * index, (short) value);
            case 4 -> memory.set(ValueLayout.JAVA_INT_UNALIGNED, 4 * index, (int) value);
            default -> memory.set(ValueLayout.JAVA_LONG_UNALIGNED, 8 * index, value);
        }
    }

    void put(MemorySegment memory, long index, double value) {
        switch (this) {
            case FP64 -> memory.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, 8 * index, value);
            case FP32 -> memory.set(ValueLayout.JAVA_FLOAT_UNALIGNED, 4 * index, (float) value);
            case FP16 -> memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, 2 * index, Float.floatToFloat16((float) value));
            case BF16 -> memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, 2 * index, brain((float) value));
            default -> throw new IllegalStateException(name());
        }
    }

    /** Rounds to nearest, ties to even; a NaN remains a NaN. */
    private static short brain(float value) {
        int bits = Float.floatToRawIntBits(value);
        if (Float.isNaN(value)) {
            return (short) (bits >>> 16 | 0x40);
        }
        return (short) (bits + 0x7FFF + (bits >>> 16 & 1) >>> 16);
    }

    /** Truncates a text for a message. */
    static String shortened(String text) {
        return text.length() <= 64 ? text : text.substring(0, 64) + "...";
    }
}
