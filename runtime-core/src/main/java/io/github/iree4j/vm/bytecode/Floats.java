package io.github.iree4j.vm.bytecode;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.isa.Op;

/** The float operations, computed in double: the functions of C's math library named in {@code iree/vm/ops.h}. */
final class Floats {
    private static final double LOG2_E = 1 / Math.log(2);
    private static final double LOG2_E_LOW = 0x1.777d0ffda0d24p-56; // the rounding error of LOG2_E
    private static final double SQRT_2 = Math.sqrt(2);
    private static final double TWO_TO_63 = 0x1p63;

    private Floats() {}

    static double unary(int op, double x) {
        return switch (op) {
            case Op.CEIL_F64 -> Math.ceil(x);
            case Op.FLOOR_F64 -> Math.floor(x);
            case Op.ROUND_F64 -> roundHalfAway(x);
            case Op.ROUND_F64_EVEN -> Math.rint(x);
            case Op.ATAN_F64 -> Math.atan(x);
            case Op.COS_F64 -> Math.cos(x);
            case Op.SIN_F64 -> Math.sin(x);
            case Op.EXP_F64 -> Math.exp(x);
            case Op.EXP2_F64 -> Math.pow(2, x);
            case Op.EXPM1_F64 -> Math.expm1(x);
            case Op.LOG_F64 -> Math.log(x);
            case Op.LOG10_F64 -> Math.log10(x);
            case Op.LOG1P_F64 -> Math.log1p(x);
            case Op.LOG2_F64 -> log2(x);
            case Op.TANH_F64 -> Math.tanh(x);
            case Op.ERF_F64 -> ErrorFunction.of(x);
            default -> throw IreeException.of(StatusCode.INTERNAL, "operation " + op + " is not implemented");
        };
    }

    static double binary(int op, double x, double y) {
        return switch (op) {
            case Op.REM_F64 -> Math.IEEEremainder(x, y);
            case Op.ATAN2_F64 -> Math.atan2(x, y);
            default -> PowerFunction.of(x, y);
        };
    }

    /** Multiplies the squares selected by the exponent's bits. Like IREE's runtime, this method uses only 32 bits of the exponent. */
    static float power(float base, long exponent) {
        float result = 1;
        float square = base;
        for (int rest = Math.abs((int) exponent); ; square *= square) {
            if ((rest & 1) != 0) {
                result *= square;
            }
            rest >>>= 1;
            if (rest == 0) {
                return (int) exponent < 0 ? 1 / result : result;
            }
        }
    }

    static double power(double base, long exponent) {
        double result = 1;
        double square = base;
        for (int rest = Math.abs((int) exponent); ; square *= square) {
            if ((rest & 1) != 0) {
                result *= square;
            }
            rest >>>= 1;
            if (rest == 0) {
                return (int) exponent < 0 ? 1 / result : result;
            }
        }
    }

    /** Compares; unordered comparisons are true for NaN. NE.O is C's {@code !=}, and therefore true for NaN as well. */
    static boolean compare(int op, double x, double y) {
        return switch (op) {
            case Op.CMP_EQ_F64_O -> x == y;
            case Op.CMP_EQ_F64_U -> !(x < y || x > y);
            case Op.CMP_NE_F64_O, Op.CMP_NE_F64_U -> x != y;
            case Op.CMP_LT_F64_O -> x < y;
            case Op.CMP_LT_F64_U -> !(x >= y);
            case Op.CMP_LTE_F64_O -> x <= y;
            default -> !(x > y);
        };
    }

    static double roundHalfAway(double x) {
        double magnitude = Math.abs(x);
        double whole = Math.floor(magnitude);
        // Exact; adding a half first would round.
        return Math.copySign(magnitude - whole >= 0.5 ? whole + 1 : whole, x);
    }

    /** Rounds to the nearest integer, halves away from zero; out-of-range values saturate, NaN becomes 0. */
    static long toSigned(double x) {
        return (long) roundHalfAway(x);
    }

    /** As {@link #toSigned}, with 2^63 and above as unsigned values; negative numbers wrap. */
    static long toUnsigned(double x) {
        double rounded = roundHalfAway(x);
        return rounded >= TWO_TO_63 ? (long) (rounded - TWO_TO_63) ^ Long.MIN_VALUE : (long) rounded;
    }

    static float unsignedToFloat(long x) {
        // Halved with a sticky bit, for a single rounding.
        return x >= 0 ? (float) x : (float) (x >>> 1 | x & 1) * 2;
    }

    static double unsignedToDouble(long x) {
        return x >= 0 ? (double) x : (double) (x >>> 1 | x & 1) * 2;
    }

    /** Splits off powers of two, so that the powers are exact, and multiplies the rest in two doubles. */
    private static double log2(double x) {
        if (!(x > 0) || Double.isInfinite(x)) {
            return Math.log(x);
        }
        double normal = x < Double.MIN_NORMAL ? x * 0x1p54 : x;
        int exponent = Math.getExponent(normal);
        double fraction = Math.scalb(normal, -exponent);
        if (fraction > SQRT_2) { // keeps the sum at least as far from zero as the summands
            fraction /= 2;
            exponent++;
        }
        double log = Math.log(fraction);
        double high = log * LOG2_E;
        double low = Math.fma(log, LOG2_E, -high) + log * LOG2_E_LOW;
        return (x < Double.MIN_NORMAL ? exponent - 54 : exponent) + (high + low);
    }
}
