package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Elements of buffer views as numbers and as text, for traces and for checks. */
public final class ElementValues {
    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfFloat FLOAT =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble DOUBLE =
            ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private ElementValues() {}

    /**
     * Reads an element of a floating-point type.
     *
     * @param type the type: f16, bf16, f32, f64 or an 8-bit type
     * @param bytes the elements, dense
     * @param index the element's index
     * @return the element's value
     * @throws IreeException UNIMPLEMENTED for other types
     */
    public static double floatAt(ElementType type, MemorySegment bytes, long index) {
        if (type.equals(ElementType.F32)) {
            return bytes.get(FLOAT, index * 4);
        }
        if (type.equals(ElementType.F64)) {
            return bytes.get(DOUBLE, index * 8);
        }
        if (type.equals(ElementType.F16)) {
            return Float.float16ToFloat(bytes.get(SHORT, index * 2));
        }
        if (type.equals(ElementType.BF16)) {
            return Float.intBitsToFloat(bytes.get(SHORT, index * 2) << 16);
        }
        int bits = type.bitCount() == 8 ? Byte.toUnsignedInt(bytes.get(ValueLayout.JAVA_BYTE, index)) : 0;
        if (type.equals(ElementType.F8_E5M2)) {
            return Float.float16ToFloat((short) (bits << 8));
        }
        if (type.equals(ElementType.F8_E4M3_FN)) {
            return (bits & 0x7F) == 0x7F ? Double.NaN : small(bits, 3, 7);
        }
        if (type.equals(ElementType.F8_E5M2_FNUZ)) {
            return bits == 0x80 ? Double.NaN : small(bits, 2, 16);
        }
        if (type.equals(ElementType.F8_E4M3_FNUZ)) {
            return bits == 0x80 ? Double.NaN : small(bits, 3, 8);
        }
        if (type.equals(ElementType.F8_E8M0_FNU)) {
            return bits == 0xFF ? Double.NaN : Math.scalb(1.0, bits - 127);
        }
        throw IreeException.of(
                StatusCode.UNIMPLEMENTED, "elements of type %s are not floating-point numbers".formatted(type));
    }

    /** An 8-bit float without infinities: sign, exponent, mantissa. */
    private static double small(int bits, int mantissaBits, int bias) {
        int mantissa = bits & (1 << mantissaBits) - 1;
        int exponent = (bits & 0x7F) >> mantissaBits;
        double magnitude = exponent == 0
                ? Math.scalb((double) mantissa, 1 - bias - mantissaBits)
                : Math.scalb((double) (mantissa + (1 << mantissaBits)), exponent - bias - mantissaBits);
        return (bits & 0x80) == 0 ? magnitude : -magnitude;
    }

    /**
     * Reads an element of an integer or boolean type of whole bytes.
     *
     * @param type the type, 8 to 64 bits
     * @param bytes the elements, dense
     * @param index the element's index
     * @return the element's value, sign-extended unless the type is unsigned or boolean
     * @throws IreeException UNIMPLEMENTED for other widths
     */
    public static long integerAt(ElementType type, MemorySegment bytes, long index) {
        boolean unsigned = type.isUnsigned() || type.isBoolean();
        switch (type.bitCount()) {
            case 8:
                byte b = bytes.get(ValueLayout.JAVA_BYTE, index);
                return unsigned ? Byte.toUnsignedLong(b) : b;
            case 16:
                short s = bytes.get(SHORT, index * 2);
                return unsigned ? Short.toUnsignedLong(s) : s;
            case 32:
                int i = bytes.get(INT, index * 4);
                return unsigned ? Integer.toUnsignedLong(i) : i;
            case 64:
                return bytes.get(LONG, index * 8);
            default:
                throw IreeException.of(
                        StatusCode.UNIMPLEMENTED,
                        "elements of type %s are not integers of whole bytes".formatted(type));
        }
    }

    /**
     * Prints a view as IREE's tools do: shape, type and values, for example {@code 2x2xf32=[1 2][3 4]}.
     *
     * @param view the view, for shape and type
     * @param bytes the view's elements, dense
     * @param limit most elements to print
     * @return a single line
     */
    public static String format(BufferView view, MemorySegment bytes, int limit) {
        StringBuilder text = new StringBuilder().append(view).append('=');
        ElementType type = view.elementType();
        if (!type.isFloat() && !type.isInteger() && !type.isBoolean() || !type.isByteAligned()) {
            return text.append('(').append(type).append(" is not printed)").toString();
        }
        long count = view.shape().elementCount();
        if (count > 0) {
            append(text, view, bytes, 0, 0, limit);
        }
        if (count > limit) {
            text.append("...");
        }
        return text.toString();
    }

    private static void append(
            StringBuilder text, BufferView view, MemorySegment bytes, int dimension, long first, int limit) {
        if (first >= limit) {
            return;
        }
        long[] shape = view.shape().dimensions();
        if (dimension >= shape.length - 1) {
            long count = shape.length == 0 ? 1 : shape[dimension];
            for (long i = 0; i < count && first + i < limit; i++) {
                text.append(i == 0 ? "" : " ").append(value(view.elementType(), bytes, first + i));
            }
            return;
        }
        long inner =
                Shape.of(Arrays.copyOfRange(shape, dimension + 1, shape.length)).elementCount();
        for (long i = 0; i < shape[dimension] && first + i * inner < limit; i++) {
            text.append('[');
            append(text, view, bytes, dimension + 1, first + i * inner, limit);
            text.append(']');
        }
    }

    private static String value(ElementType type, MemorySegment bytes, long index) {
        if (!type.isFloat()) {
            long value = integerAt(type, bytes, index);
            return type.isUnsigned() ? Long.toUnsignedString(value) : Long.toString(value);
        }
        double value = floatAt(type, bytes, index);
        if (value == Math.rint(value) && Math.abs(value) < 1e6) {
            return Long.toString((long) value);
        }
        return type.bitCount() == 64 ? Double.toString(value) : Float.toString((float) value);
    }
}
