package io.github.iree4j.tensor;

import io.github.iree4j.hal.ElementType;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Reads and writes single elements of every element type with a Java number. Elements are little-endian and need no
 * alignment; 4-bit integers are packed, the element of even index in the low half of the byte.
 */
public final class ElementCodec {
    /** The kind of the elements of a type. */
    enum Kind {
        BOOLEAN,
        INTEGER,
        FLOAT,
        /** Complex, opaque or unknown: bytes without a Java number. */
        RAW
    }

    static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfLong I64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    static final ValueLayout.OfDouble F64 = ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Numerical types, {@code iree/hal/buffer_view.h}. */
    private static final int INTEGER = 0x10;

    private static final int SIGNED = 0x11;
    private static final int UNSIGNED = 0x12;
    private static final int BOOLEAN = 0x13;
    private static final int IEEE = 0x21;
    private static final int BRAIN = 0x22;

    private final ElementType type;
    private final int numerical;
    private final int bits;
    private final Kind kind;

    private ElementCodec(ElementType type) {
        this.type = type;
        this.numerical = type.encoding() >>> 24;
        this.bits = type.encoding() & 0xFF;
        this.kind = kindOf(numerical, bits);
    }

    /** Returns the codec of a type. */
    static ElementCodec of(ElementType type) {
        return new ElementCodec(type);
    }

    private static Kind kindOf(int numerical, int bits) {
        return switch (numerical) {
            case BOOLEAN -> bits == 8 ? Kind.BOOLEAN : Kind.RAW;
            case INTEGER, SIGNED, UNSIGNED ->
                bits == 4 || bits == 8 || bits == 16 || bits == 32 || bits == 64 ? Kind.INTEGER : Kind.RAW;
            case IEEE -> bits == 16 || bits == 32 || bits == 64 ? Kind.FLOAT : Kind.RAW;
            case BRAIN -> bits == 16 ? Kind.FLOAT : Kind.RAW;
            default -> SmallFloat.of(numerical) != null && bits == 8 ? Kind.FLOAT : Kind.RAW;
        };
    }

    /** Returns the bytes of packed elements. INVALID_ARGUMENT for a type without size. */
    public static long byteSize(ElementType type, long count) {
        if (type.bitCount() == 0) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "element type %s has no size".formatted(type));
        }
        return type.byteSize(count);
    }

    Kind kind() {
        return kind;
    }

    int bits() {
        return bits;
    }

    boolean isUnsigned() {
        return numerical == UNSIGNED || numerical == BOOLEAN;
    }

    /** Returns whether elements are exactly Java's {@code float}, and so on; then arrays can be copied in bulk. */
    boolean isFloat32() {
        return numerical == IEEE && bits == 32;
    }

    boolean isFloat64() {
        return numerical == IEEE && bits == 64;
    }

    boolean isInteger(int width) {
        return kind == Kind.INTEGER && bits == width;
    }

    /**
     * Returns the element as an integer: extended by the type's signedness; an unsigned 64-bit integer as the raw bits.
     * Types without integers fail.
     */
    long getLong(MemorySegment data, long index) {
        if (kind == Kind.BOOLEAN) {
            return data.get(ValueLayout.JAVA_BYTE, index) != 0 ? 1 : 0;
        }
        if (kind != Kind.INTEGER) {
            throw notConvertible("an integer");
        }
        long value = switch (bits) {
            case 4 -> data.get(ValueLayout.JAVA_BYTE, index >> 1) >> ((index & 1) << 2);
            case 8 -> data.get(ValueLayout.JAVA_BYTE, index);
            case 16 -> data.get(I16, index * 2);
            case 32 -> data.get(I32, index * 4);
            default -> data.get(I64, index * 8);
        };
        int unused = 64 - bits;
        return isUnsigned() ? value << unused >>> unused : value << unused >> unused;
    }

    /** Returns the element as a floating-point number; integers are converted, rounding to nearest. Types without numbers fail. */
    double getDouble(MemorySegment data, long index) {
        if (kind != Kind.FLOAT) {
            long value = getLong(data, index);
            return bits == 64 && isUnsigned() ? unsignedToDouble(value) : value;
        }
        if (numerical == IEEE) {
            return switch (bits) {
                case 16 -> Float.float16ToFloat(data.get(I16, index * 2));
                case 32 -> data.get(F32, index * 4);
                default -> data.get(F64, index * 8);
            };
        }
        if (numerical == BRAIN) {
            return Float.intBitsToFloat(data.get(I16, index * 2) << 16);
        }
        return smallFloat().decode(data.get(ValueLayout.JAVA_BYTE, index));
    }

    /**
     * Stores an integer; OUT_OF_RANGE when not representable in the type. Signless types hold the values of both the
     * signed and the unsigned type.
     */
    void putLong(MemorySegment data, long index, long value) {
        switch (kind) {
            case FLOAT -> putDouble(data, index, value);
            case RAW -> throw notConvertible("an integer");
            case BOOLEAN -> {
                if (value != 0 && value != 1) {
                    throw doesNotFit(Long.toString(value), index, "0 or 1");
                }
                data.set(ValueLayout.JAVA_BYTE, index, (byte) value);
            }
            case INTEGER -> {
                if (value < minimum() || (bits < 64 && value > maximum())) {
                    throw doesNotFit(
                            Long.toString(value), index, minimum() + " to " + Long.toUnsignedString(maximum()));
                }
                putBits(data, index, value);
            }
        }
    }

    /** Returns the smallest value stored by {@link #putLong}; only for integers. */
    long minimum() {
        return numerical == UNSIGNED ? (bits == 64 ? Long.MIN_VALUE : 0) : -1L << (bits - 1);
    }

    /** Returns the greatest value stored by {@link #putLong}, unsigned for 64 bits without sign; only for integers. */
    long maximum() {
        return numerical == SIGNED ? ~(-1L << (bits - 1)) : -1L >>> (64 - bits);
    }

    /** Stores the low bits of a value, regardless of the signedness. */
    void putBits(MemorySegment data, long index, long value) {
        switch (bits) {
            case 4 -> {
                byte before = data.get(ValueLayout.JAVA_BYTE, index >> 1);
                int shift = (int) (index & 1) << 2;
                data.set(ValueLayout.JAVA_BYTE, index >> 1, (byte)
                        ((before & ~(0xF << shift)) | ((value & 0xF) << shift)));
            }
            case 8 -> data.set(ValueLayout.JAVA_BYTE, index, (byte) value);
            case 16 -> data.set(I16, index * 2, (short) value);
            case 32 -> data.set(I32, index * 4, (int) value);
            default -> data.set(I64, index * 8, value);
        }
    }

    /** Stores a floating-point number, rounded to nearest, ties to even. Types other than floats fail. */
    void putDouble(MemorySegment data, long index, double value) {
        if (kind != Kind.FLOAT) {
            throw notConvertible("a floating-point number");
        }
        if (numerical == IEEE) {
            switch (bits) {
                case 16 -> data.set(I16, index * 2, Float.floatToFloat16((float) value));
                case 32 -> data.set(F32, index * 4, (float) value);
                default -> data.set(F64, index * 8, value);
            }
        } else if (numerical == BRAIN) {
            data.set(I16, index * 2, toBrain((float) value));
        } else {
            data.set(ValueLayout.JAVA_BYTE, index, (byte) smallFloat().encode((float) value));
        }
    }

    private static short toBrain(float value) {
        int bits = Float.floatToRawIntBits(value);
        if (Float.isNaN(value)) {
            return (short) (bits >>> 16 | 0x40); // stays a NaN without the lower bits
        }
        return (short) (bits + 0x7FFF + (bits >>> 16 & 1) >>> 16);
    }

    private static double unsignedToDouble(long value) {
        // Halved with a sticky bit, so the rounding is the same.
        return value >= 0 ? value : (value >>> 1 | value & 1) * 2.0;
    }

    private SmallFloat smallFloat() {
        SmallFloat format = SmallFloat.of(numerical);
        if (format == null) {
            throw notConvertible("a floating-point number");
        }
        return format;
    }

    private IreeException notConvertible(String wanted) {
        String remedy = switch (kind) {
            case FLOAT -> "use floats, as of toFloatArray, or the raw bytes";
            case RAW -> "use the raw bytes";
            case INTEGER, BOOLEAN -> "use integers, or the raw bytes";
        };
        return IreeException.of(
                StatusCode.INVALID_ARGUMENT,
                "element type %s does not convert to or from %s; %s".formatted(type, wanted, remedy));
    }

    private IreeException doesNotFit(String value, long index, String range) {
        return IreeException.of(
                StatusCode.OUT_OF_RANGE,
                "element %d is %s, which element type %s cannot hold (%s)".formatted(index, value, type, range));
    }
}
