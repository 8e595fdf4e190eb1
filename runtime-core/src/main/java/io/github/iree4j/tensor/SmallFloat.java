package io.github.iree4j.tensor;

import org.jspecify.annotations.Nullable;

/**
 * The 8-bit float formats, bit layouts as in {@code iree/hal/buffer_view.h} and APFloat. Encoding rounds to nearest,
 * ties to even; a value too large becomes infinity where the format has infinities, otherwise NaN.
 */
enum SmallFloat {
    F8E5M2(0x24, 5, 2, 15, true, 0x7F),
    F8E4M3FN(0x25, 4, 3, 7, false, 0x7F),
    F8E5M2FNUZ(0x26, 5, 2, 16, false, 0x80),
    F8E4M3FNUZ(0x27, 4, 3, 8, false, 0x80),
    /** A power of two from 2^-127 to 2^127, without sign. */
    F8E8M0FNU(0x28, 8, 0, 127, false, 0xFF);

    private final int numericalType;
    private final int exponentBits;
    private final int mantissaBits;
    private final int bias;
    private final boolean infinity;
    private final int nan;
    private final float[] decoded = new float[256];

    SmallFloat(int numericalType, int exponentBits, int mantissaBits, int bias, boolean infinity, int nan) {
        this.numericalType = numericalType;
        this.exponentBits = exponentBits;
        this.mantissaBits = mantissaBits;
        this.bias = bias;
        this.infinity = infinity;
        this.nan = nan;
        for (int code = 0; code < 256; code++) {
            decoded[code] = decodeSlowly(code);
        }
    }

    /** Returns the format of a numerical type byte, or null for other types. */
    static @Nullable SmallFloat of(int numericalType) {
        int index = numericalType - F8E5M2.numericalType;
        return index >= 0 && index < 5 ? VALUES[index] : null;
    }

    private static final SmallFloat[] VALUES = values();

    float decode(int code) {
        return decoded[code & 0xFF];
    }

    private boolean unsigned() {
        return mantissaBits == 0;
    }

    /** Returns whether 0x80 is the only NaN; in other formats NaN is encoded with the value's sign bit. */
    private boolean negativeZeroIsNan() {
        return nan == 0x80;
    }

    private float decodeSlowly(int code) {
        if (unsigned()) {
            return code == nan ? Float.NaN : Math.scalb(1f, code - bias);
        }
        float sign = (code & 0x80) != 0 ? -1f : 1f;
        int magnitude = code & 0x7F;
        int exponent = magnitude >>> mantissaBits;
        int mantissa = magnitude & ((1 << mantissaBits) - 1);
        if (negativeZeroIsNan() ? code == nan : !infinity && magnitude == nan) {
            return Float.NaN;
        }
        if (infinity && exponent == (1 << exponentBits) - 1) {
            return mantissa == 0 ? sign * Float.POSITIVE_INFINITY : Float.NaN;
        }
        return exponent == 0
                ? sign * Math.scalb((float) mantissa, 1 - bias - mantissaBits)
                : sign * Math.scalb((float) (mantissa + (1 << mantissaBits)), exponent - bias - mantissaBits);
    }

    int encode(float value) {
        boolean negative = Float.floatToRawIntBits(value) < 0;
        if (Float.isNaN(value)) {
            return unsigned() || negativeZeroIsNan() ? nan : nan | (negative ? 0x80 : 0);
        }
        if (unsigned()) {
            return encodePowerOfTwo(value);
        }
        int sign = negative ? 0x80 : 0;
        int top = infinity ? ((1 << exponentBits) - 1) << mantissaBits : negativeZeroIsNan() ? 0x80 : nan;
        int overflow = infinity ? sign | top : negativeZeroIsNan() ? nan : sign | nan;
        if (Float.isInfinite(value)) {
            return overflow;
        }
        int exponent = Math.max(Math.getExponent(value), 1 - bias);
        // The number of smallest steps at this exponent; exact in a double before rounding.
        int steps = (int) Math.rint(Math.scalb(Math.abs((double) value), mantissaBits - exponent));
        int one = 1 << mantissaBits;
        if (steps == 2 * one) {
            steps = one;
            exponent++;
        }
        int code = steps < one ? steps : ((exponent + bias) << mantissaBits) | (steps - one);
        if (code >= top) {
            return overflow;
        }
        return code == 0 && negativeZeroIsNan() ? 0 : sign | code;
    }

    private int encodePowerOfTwo(float value) {
        if (value <= 0 || Float.isInfinite(value)) {
            return value <= 0 && !Float.isInfinite(value) ? 0 : nan;
        }
        int exponent = Math.max(Math.getExponent(value), -127);
        double scaled = Math.scalb((double) value, -exponent);
        if (scaled >= 1.5) {
            exponent++;
        }
        int code = exponent + bias;
        return code >= nan ? nan : Math.max(code, 0);
    }
}
