package io.github.iree4j.vm.asm;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Floating-point literals as accepted by C's {@code strtof} and printed by {@code %.9g} (f64: {@code %.17g}), so that
 * every finite value survives the round trip. NaNs other than {@code nan} and {@code -nan} are written
 * {@code bits(0x...)}.
 */
final class FloatLiterals {

    private static final Pattern DECIMAL = Pattern.compile("[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?");
    private static final Pattern HEXADECIMAL =
            Pattern.compile("[+-]?0[xX]([0-9a-fA-F]+\\.?[0-9a-fA-F]*|\\.[0-9a-fA-F]+)[pP][+-]?[0-9]+");
    private static final int MAX_LENGTH = 400;

    private static final int NAN_F32 = 0x7FC0_0000;
    private static final long NAN_F64 = 0x7FF8_0000_0000_0000L;

    private FloatLiterals() {}

    /** Reads a literal and returns the bits. */
    static int parseF32(LineCursor line) {
        if (line.tryTake("bits")) {
            return (int) bits(line, 32);
        }
        int mark = line.mark();
        String text = text(line, "an f32 literal");
        if (isNan(text)) {
            return text.startsWith("-") ? NAN_F32 | Integer.MIN_VALUE : NAN_F32;
        }
        float value = isInfinity(text)
                ? (text.startsWith("-") ? Float.NEGATIVE_INFINITY : Float.POSITIVE_INFINITY)
                : Float.parseFloat(text);
        if (Float.isInfinite(value) && !isInfinity(text)) {
            line.reset(mark);
            throw line.error("an f32 literal within its range");
        }
        return Float.floatToRawIntBits(value);
    }

    /** Reads a literal and returns the bits. */
    static long parseF64(LineCursor line) {
        if (line.tryTake("bits")) {
            return bits(line, 64);
        }
        int mark = line.mark();
        String text = text(line, "an f64 literal");
        if (isNan(text)) {
            return text.startsWith("-") ? NAN_F64 | Long.MIN_VALUE : NAN_F64;
        }
        double value = isInfinity(text)
                ? (text.startsWith("-") ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY)
                : Double.parseDouble(text);
        if (Double.isInfinite(value) && !isInfinity(text)) {
            line.reset(mark);
            throw line.error("an f64 literal within its range");
        }
        return Double.doubleToRawLongBits(value);
    }

    private static long bits(LineCursor line, int width) {
        line.take("(");
        long bits = line.integer(width, "the bits of a float");
        line.take(")");
        return bits;
    }

    private static String text(LineCursor line, String what) {
        line.skipSpace();
        int mark = line.mark();
        String text = line.token();
        boolean isNumber = text.length() <= MAX_LENGTH
                && (DECIMAL.matcher(text).matches() || HEXADECIMAL.matcher(text).matches());
        if (!isNumber && !isNan(text) && !isInfinity(text)) {
            line.reset(mark);
            throw line.error(what);
        }
        return text;
    }

    private static boolean isNan(String text) {
        return unsigned(text).equalsIgnoreCase("nan");
    }

    private static boolean isInfinity(String text) {
        String magnitude = unsigned(text);
        return magnitude.equalsIgnoreCase("inf") || magnitude.equalsIgnoreCase("infinity");
    }

    private static String unsigned(String text) {
        return text.startsWith("-") || text.startsWith("+") ? text.substring(1) : text;
    }

    static String formatF32(int bits) {
        float value = Float.intBitsToFloat(bits);
        if (Float.isNaN(value)) {
            return switch (bits) {
                case NAN_F32 -> "nan";
                case NAN_F32 | Integer.MIN_VALUE -> "-nan";
                default -> "bits(0x%08X)".formatted(bits);
            };
        }
        return Float.isInfinite(value) ? (value > 0 ? "inf" : "-inf") : general(value, value == 0 && bits < 0, 9);
    }

    static String formatF64(long bits) {
        double value = Double.longBitsToDouble(bits);
        if (Double.isNaN(value)) {
            return bits == NAN_F64
                    ? "nan"
                    : bits == (NAN_F64 | Long.MIN_VALUE) ? "-nan" : "bits(0x%016X)".formatted(bits);
        }
        return Double.isInfinite(value) ? (value > 0 ? "inf" : "-inf") : general(value, value == 0 && bits < 0, 17);
    }

    /** Formats as C's {@code %.<digits>g}, missing in Java's formatter: drops trailing zeros and writes small or large exponents. */
    private static String general(double value, boolean negativeZero, int digits) {
        if (value == 0) {
            return negativeZero ? "-0" : "0";
        }
        BigDecimal rounded = new BigDecimal(value)
                .round(new MathContext(digits, RoundingMode.HALF_EVEN))
                .stripTrailingZeros();
        int exponent = rounded.precision() - rounded.scale() - 1;
        if (exponent >= -4 && exponent < digits) {
            return rounded.toPlainString();
        }
        String unscaled = rounded.unscaledValue().abs().toString();
        String mantissa = unscaled.length() == 1 ? unscaled : unscaled.charAt(0) + "." + unscaled.substring(1);
        return String.format(
                Locale.ROOT,
                "%s%se%s%02d",
                rounded.signum() < 0 ? "-" : "",
                mantissa,
                exponent < 0 ? "-" : "+",
                Math.abs(exponent));
    }
}
