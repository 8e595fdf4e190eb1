package io.github.iree4j.hal;

import static java.util.Map.entry;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Map;

/**
 * Element type of a buffer view: the kind of number in the top 8 bits, the bit count in the low 8 ({@code
 * iree/hal/buffer_view.h}).
 *
 * @param encoding the number passed by compiled programs
 */
public record ElementType(int encoding) {
    private static final int INTEGER = 0x10;
    private static final int SIGNED = 0x11;
    private static final int UNSIGNED = 0x12;
    private static final int BOOLEAN = 0x13;
    private static final int IEEE = 0x21;
    private static final int BRAIN = 0x22;
    private static final int COMPLEX = 0x23;
    private static final int F8_E5M2_KIND = 0x24;
    private static final int F8_E4M3_FN_KIND = 0x25;
    private static final int F8_E5M2_FNUZ_KIND = 0x26;
    private static final int F8_E4M3_FNUZ_KIND = 0x27;
    private static final int F8_E8M0_FNU_KIND = 0x28;

    /** No type. */
    public static final ElementType NONE = new ElementType(0);
    /** 8 bits without interpretation. */
    public static final ElementType OPAQUE_8 = new ElementType(8);
    /** 16 bits without interpretation. */
    public static final ElementType OPAQUE_16 = new ElementType(16);
    /** 32 bits without interpretation. */
    public static final ElementType OPAQUE_32 = new ElementType(32);
    /** 64 bits without interpretation. */
    public static final ElementType OPAQUE_64 = new ElementType(64);
    /** Booleans, one byte each; printed {@code i1}. */
    public static final ElementType BOOL_8 = of(BOOLEAN, 8);
    /** 4-bit integers, two to a byte. */
    public static final ElementType I4 = of(INTEGER, 4);
    /** Signed 4-bit integers. */
    public static final ElementType SI4 = of(SIGNED, 4);
    /** Unsigned 4-bit integers. */
    public static final ElementType UI4 = of(UNSIGNED, 4);
    /** 8-bit integers of unspecified signedness. */
    public static final ElementType I8 = of(INTEGER, 8);
    /** Signed 8-bit integers. */
    public static final ElementType SI8 = of(SIGNED, 8);
    /** Unsigned 8-bit integers. */
    public static final ElementType UI8 = of(UNSIGNED, 8);
    /** 16-bit integers of unspecified signedness. */
    public static final ElementType I16 = of(INTEGER, 16);
    /** Signed 16-bit integers. */
    public static final ElementType SI16 = of(SIGNED, 16);
    /** Unsigned 16-bit integers. */
    public static final ElementType UI16 = of(UNSIGNED, 16);
    /** 32-bit integers of unspecified signedness, as in {@code tensor<..xi32>}. */
    public static final ElementType I32 = of(INTEGER, 32);
    /** Signed 32-bit integers. */
    public static final ElementType SI32 = of(SIGNED, 32);
    /** Unsigned 32-bit integers. */
    public static final ElementType UI32 = of(UNSIGNED, 32);
    /** 64-bit integers of unspecified signedness. */
    public static final ElementType I64 = of(INTEGER, 64);
    /** Signed 64-bit integers. */
    public static final ElementType SI64 = of(SIGNED, 64);
    /** Unsigned 64-bit integers. */
    public static final ElementType UI64 = of(UNSIGNED, 64);
    /** IEEE half precision. */
    public static final ElementType F16 = of(IEEE, 16);
    /** IEEE single precision. */
    public static final ElementType F32 = of(IEEE, 32);
    /** IEEE double precision. */
    public static final ElementType F64 = of(IEEE, 64);
    /** The upper half of a single: bfloat16. */
    public static final ElementType BF16 = of(BRAIN, 16);
    /** Two singles: real, imaginary. */
    public static final ElementType COMPLEX_64 = of(COMPLEX, 64);
    /** Two doubles: real, imaginary. */
    public static final ElementType COMPLEX_128 = of(COMPLEX, 128);
    /** 8-bit float, 5 bits exponent, IEEE-like. */
    public static final ElementType F8_E5M2 = of(F8_E5M2_KIND, 8);
    /** 8-bit float, 4 bits exponent, finite with NaN. */
    public static final ElementType F8_E4M3_FN = of(F8_E4M3_FN_KIND, 8);
    /** 8-bit float, 5 bits exponent, finite, one NaN, unsigned zero. */
    public static final ElementType F8_E5M2_FNUZ = of(F8_E5M2_FNUZ_KIND, 8);
    /** 8-bit float, 4 bits exponent, finite, one NaN, unsigned zero. */
    public static final ElementType F8_E4M3_FNUZ = of(F8_E4M3_FNUZ_KIND, 8);
    /** 8 bits of exponent, no sign, no mantissa. */
    public static final ElementType F8_E8M0_FNU = of(F8_E8M0_FNU_KIND, 8);

    private static final Map<String, ElementType> NAMED = Map.ofEntries(
            entry("i1", BOOL_8),
            entry("f8E5M2", F8_E5M2),
            entry("f8E4M3FN", F8_E4M3_FN),
            entry("f8E5M2FNUZ", F8_E5M2_FNUZ),
            entry("f8E4M3FNUZ", F8_E4M3_FNUZ),
            entry("f8E8M0FNU", F8_E8M0_FNU));

    private static ElementType of(int numericalType, int bits) {
        return new ElementType(numericalType << 24 | bits);
    }

    /**
     * Returns the kind: 0 opaque, 0x10 integer, 0x11 signed, 0x12 unsigned, 0x13 boolean, 0x21 IEEE, 0x22 brain float,
     * 0x23 complex, 0x24 to 0x28 the 8-bit floats.
     *
     * @return the top 8 bits of the encoding
     */
    public int numericalType() {
        return encoding >>> 24;
    }

    /**
     * Returns the bits of an element.
     *
     * @return 0 to 255
     */
    public int bitCount() {
        return encoding & 0xFF;
    }

    /**
     * Returns whether only the size is known.
     *
     * @return true for opaque types and {@link #NONE}
     */
    public boolean isOpaque() {
        return numericalType() == 0;
    }

    /**
     * Returns whether elements are integers of any signedness (booleans are not).
     *
     * @return true for integer types
     */
    public boolean isInteger() {
        int kind = numericalType();
        return kind == INTEGER || kind == SIGNED || kind == UNSIGNED;
    }

    /**
     * Returns whether elements are declared unsigned integers.
     *
     * @return true for {@code ui} types
     */
    public boolean isUnsigned() {
        return numericalType() == UNSIGNED;
    }

    /**
     * Returns whether elements are booleans.
     *
     * @return true for {@link #BOOL_8}
     */
    public boolean isBoolean() {
        return numericalType() == BOOLEAN;
    }

    /**
     * Returns whether elements are real floating point numbers of any format.
     *
     * @return true for IEEE, brain and 8-bit floats
     */
    public boolean isFloat() {
        int kind = numericalType();
        return kind == IEEE || kind == BRAIN || kind >= F8_E5M2_KIND && kind <= F8_E8M0_FNU_KIND;
    }

    /**
     * Returns whether elements are complex numbers.
     *
     * @return true for complex types
     */
    public boolean isComplex() {
        return numericalType() == COMPLEX;
    }

    /**
     * Returns whether an element fills whole bytes.
     *
     * @return false for types such as i4
     */
    public boolean isByteAligned() {
        return (bitCount() & 7) == 0;
    }

    /**
     * Returns the number of bytes of packed elements; the last byte may be partly used.
     *
     * @param count number of elements, not negative
     * @return {@code (count * bits + 7) / 8}
     * @throws IreeException OUT_OF_RANGE when the result exceeds a long, INVALID_ARGUMENT for a negative count
     */
    public long byteSize(long count) {
        if (count < 0) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "element count " + count + " is negative");
        }
        int bits = bitCount();
        long whole = bits >> 3;
        long rest = bits & 7;
        // Whole bytes and the remainder separately, so that only results out of range are refused.
        try {
            long packedRest = Math.addExact(Math.multiplyExact(count >> 3, rest), ((count & 7) * rest + 7) >> 3);
            return Math.addExact(Math.multiplyExact(count, whole), packedRest);
        } catch (ArithmeticException e) {
            throw IreeException.of(
                    StatusCode.OUT_OF_RANGE, count + " elements of type " + this + " exceed 2^63 - 1 bytes", e);
        }
    }

    /**
     * Parses the form printed and read by IREE's tools: {@code f32}, {@code i8}, {@code si8}, {@code ui8},
     * {@code bf16}, {@code cf64}, {@code f8E4M3FN}, {@code i1} (a boolean byte), {@code x32} or {@code *32} (opaque).
     *
     * @param text the type's name
     * @return the type
     * @throws IreeException INVALID_ARGUMENT when the text is not a type
     */
    public static ElementType parse(String text) {
        ElementType named = NAMED.get(text);
        if (named != null) {
            return named;
        }
        int digits = 0;
        while (digits < text.length() && !isDigit(text.charAt(digits))) {
            digits++;
        }
        int kind = switch (text.substring(0, digits)) {
            case "i" -> INTEGER;
            case "si" -> SIGNED;
            case "ui" -> UNSIGNED;
            case "f" -> IEEE;
            case "bf" -> BRAIN;
            case "cf" -> COMPLEX;
            case "x", "*" -> 0;
            default -> -1;
        };
        int bits = -1;
        if (digits < text.length() && text.length() - digits <= 3) {
            bits = 0;
            for (int i = digits; i < text.length(); i++) {
                bits = isDigit(text.charAt(i)) && bits >= 0 ? bits * 10 + text.charAt(i) - '0' : -1;
            }
        }
        if (kind < 0 || bits < 0 || bits > 255) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "'" + text
                            + "' is not an element type; types are i8, si8, ui8, f32, bf16, cf64, i1, f8E4M3FN and the like");
        }
        return of(kind, bits);
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    /** Prints the type as IREE's tools do, for example {@code f32}. */
    @Override
    public String toString() {
        int bits = bitCount();
        return switch (numericalType()) {
            case INTEGER -> "i" + bits;
            case SIGNED -> "si" + bits;
            case UNSIGNED -> "ui" + bits;
            case BOOLEAN -> "i1";
            case IEEE -> "f" + bits;
            case BRAIN -> "bf" + bits;
            case COMPLEX -> "cf" + bits;
            case F8_E5M2_KIND -> "f8E5M2";
            case F8_E4M3_FN_KIND -> "f8E4M3FN";
            case F8_E5M2_FNUZ_KIND -> "f8E5M2FNUZ";
            case F8_E4M3_FNUZ_KIND -> "f8E4M3FNUZ";
            case F8_E8M0_FNU_KIND -> "f8E8M0FNU";
            default -> "*" + bits;
        };
    }
}
