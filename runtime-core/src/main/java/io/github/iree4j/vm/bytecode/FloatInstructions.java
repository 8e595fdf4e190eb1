package io.github.iree4j.vm.bytecode;

import static io.github.iree4j.vm.bytecode.Interpreter.getLong;
import static io.github.iree4j.vm.bytecode.Interpreter.putLong;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmList;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.isa.Op;
import org.jspecify.annotations.Nullable;

/** The operations on f32 and f64, except operations that only move bits. Operands are laid out by {@link Translator}. */
final class FloatInstructions {
    private FloatInstructions() {}

    /** Executes an operation on f32. Returns the number of further longs in the instruction. */
    static int f32(int op, int a, int b, int c, long more, int[] words, @Nullable Object[] refs) {
        switch (op) {
            case Op.LIST_GET_F32 -> words[c] = bits(list(refs[a]).f32(words[b]));
            case Op.LIST_SET_F32 -> list(refs[a]).setF32(words[b], f32(words, c));
            case Op.FMA_F32 -> {
                float product = f32(words, a) * f32(words, b);
                words[(int) more] = bits(product + f32(words, c));
                return 1;
            }
            case Op.REM_F32, Op.ATAN2_F32, Op.POW_F32 ->
                words[c] = bits((float) Floats.binary(doubleOp(op), f32(words, a), f32(words, b)));
            case Op.FPOWI_F32 -> words[c] = bits(Floats.power(f32(words, a), getLong(words, b)));
            case Op.MIN_F32 -> {
                float left = f32(words, a);
                float right = f32(words, b);
                words[c] = bits(right < left ? right : left);
            }
            case Op.MAX_F32 -> {
                float left = f32(words, a);
                float right = f32(words, b);
                words[c] = bits(left < right ? right : left);
            }
            case Op.CAST_SI32_F32 -> words[b] = bits((float) words[a]);
            case Op.CAST_UI32_F32 -> words[b] = bits((float) (words[a] & 0xFFFF_FFFFL));
            case Op.CAST_SI64_F32 -> words[b] = bits((float) getLong(words, a));
            case Op.CAST_UI64_F32 -> words[b] = bits(Floats.unsignedToFloat(getLong(words, a)));
            case Op.CAST_F32_SI32, Op.CAST_F32_UI32 -> words[b] = (int) Floats.toSigned(f32(words, a));
            case Op.CAST_F32_SI64 -> putLong(words, b, Floats.toSigned(f32(words, a)));
            case Op.CAST_F32_UI64 -> putLong(words, b, Floats.toUnsigned(f32(words, a)));
            case Op.ABS_F32 -> words[b] = words[a] & 0x7FFF_FFFF;
            case Op.NEG_F32 -> words[b] = words[a] ^ 0x8000_0000;
            case Op.SQRT_F32 -> words[b] = bits((float) Math.sqrt(f32(words, a)));
            case Op.RSQRT_F32 -> words[b] = bits(1.0f / (float) Math.sqrt(f32(words, a)));
            case Op.CMP_NAN_F32 -> words[b] = Float.isNaN(f32(words, a)) ? 1 : 0;
            case Op.CMP_EQ_F32_O,
                    Op.CMP_EQ_F32_U,
                    Op.CMP_NE_F32_O,
                    Op.CMP_NE_F32_U,
                    Op.CMP_LT_F32_O,
                    Op.CMP_LT_F32_U,
                    Op.CMP_LTE_F32_O,
                    Op.CMP_LTE_F32_U -> words[c] = Floats.compare(doubleOp(op), f32(words, a), f32(words, b)) ? 1 : 0;
            default -> words[b] = bits((float) Floats.unary(doubleOp(op), f32(words, a)));
        }
        return 0;
    }

    /** Executes an operation on f64. Returns the number of further longs in the instruction. */
    static int f64(int op, int a, int b, int c, long more, int[] words, @Nullable Object[] refs) {
        switch (op) {
            case Op.LIST_GET_F64 -> put(words, c, list(refs[a]).f64(words[b]));
            case Op.LIST_SET_F64 -> list(refs[a]).setF64(words[b], f64(words, c));
            case Op.ADD_F64 -> put(words, c, f64(words, a) + f64(words, b));
            case Op.SUB_F64 -> put(words, c, f64(words, a) - f64(words, b));
            case Op.MUL_F64 -> put(words, c, f64(words, a) * f64(words, b));
            case Op.DIV_F64 -> put(words, c, f64(words, a) / f64(words, b));
            case Op.FMA_F64 -> {
                double product = f64(words, a) * f64(words, b);
                put(words, (int) more, product + f64(words, c));
                return 1;
            }
            case Op.REM_F64, Op.ATAN2_F64, Op.POW_F64 -> put(words, c, Floats.binary(op, f64(words, a), f64(words, b)));
            case Op.FPOWI_F64 -> put(words, c, Floats.power(f64(words, a), getLong(words, b)));
            case Op.MIN_F64 -> {
                double left = f64(words, a);
                double right = f64(words, b);
                put(words, c, right < left ? right : left);
            }
            case Op.MAX_F64 -> {
                double left = f64(words, a);
                double right = f64(words, b);
                put(words, c, left < right ? right : left);
            }
            case Op.TRUNC_F64_F32 -> words[b] = bits((float) f64(words, a));
            case Op.EXT_F32_F64 -> put(words, b, f32(words, a));
            case Op.CAST_SI32_F64 -> put(words, b, words[a]);
            case Op.CAST_UI32_F64 -> put(words, b, words[a] & 0xFFFF_FFFFL);
            case Op.CAST_SI64_F64 -> put(words, b, getLong(words, a));
            case Op.CAST_UI64_F64 -> put(words, b, Floats.unsignedToDouble(getLong(words, a)));
            case Op.CAST_F64_SI32, Op.CAST_F64_UI32 -> words[b] = (int) Floats.toSigned(f64(words, a));
            case Op.CAST_F64_SI64 -> putLong(words, b, Floats.toSigned(f64(words, a)));
            case Op.CAST_F64_UI64 -> putLong(words, b, Floats.toUnsigned(f64(words, a)));
            case Op.ABS_F64 -> putLong(words, b, getLong(words, a) & Long.MAX_VALUE);
            case Op.NEG_F64 -> putLong(words, b, getLong(words, a) ^ Long.MIN_VALUE);
            case Op.SQRT_F64 -> put(words, b, Math.sqrt(f64(words, a)));
            case Op.RSQRT_F64 -> put(words, b, 1.0 / Math.sqrt(f64(words, a)));
            case Op.CMP_NAN_F64 -> words[b] = Double.isNaN(f64(words, a)) ? 1 : 0;
            case Op.CMP_EQ_F64_O,
                    Op.CMP_EQ_F64_U,
                    Op.CMP_NE_F64_O,
                    Op.CMP_NE_F64_U,
                    Op.CMP_LT_F64_O,
                    Op.CMP_LT_F64_U,
                    Op.CMP_LTE_F64_O,
                    Op.CMP_LTE_F64_U -> words[c] = Floats.compare(op, f64(words, a), f64(words, b)) ? 1 : 0;
            default -> put(words, b, Floats.unary(op, f64(words, a)));
        }
        return 0;
    }

    /** Returns the f64 operation corresponding to an operation on f32. Both have the same results. */
    static int doubleOp(int op) {
        return switch (op) {
            case Op.REM_F32 -> Op.REM_F64;
            case Op.CEIL_F32 -> Op.CEIL_F64;
            case Op.FLOOR_F32 -> Op.FLOOR_F64;
            case Op.ROUND_F32 -> Op.ROUND_F64;
            case Op.ROUND_F32_EVEN -> Op.ROUND_F64_EVEN;
            case Op.ATAN_F32 -> Op.ATAN_F64;
            case Op.ATAN2_F32 -> Op.ATAN2_F64;
            case Op.COS_F32 -> Op.COS_F64;
            case Op.SIN_F32 -> Op.SIN_F64;
            case Op.EXP_F32 -> Op.EXP_F64;
            case Op.EXP2_F32 -> Op.EXP2_F64;
            case Op.EXPM1_F32 -> Op.EXPM1_F64;
            case Op.LOG_F32 -> Op.LOG_F64;
            case Op.LOG10_F32 -> Op.LOG10_F64;
            case Op.LOG1P_F32 -> Op.LOG1P_F64;
            case Op.LOG2_F32 -> Op.LOG2_F64;
            case Op.POW_F32 -> Op.POW_F64;
            case Op.TANH_F32 -> Op.TANH_F64;
            case Op.ERF_F32 -> Op.ERF_F64;
            case Op.CMP_EQ_F32_O -> Op.CMP_EQ_F64_O;
            case Op.CMP_EQ_F32_U -> Op.CMP_EQ_F64_U;
            case Op.CMP_NE_F32_O -> Op.CMP_NE_F64_O;
            case Op.CMP_NE_F32_U -> Op.CMP_NE_F64_U;
            case Op.CMP_LT_F32_O -> Op.CMP_LT_F64_O;
            case Op.CMP_LT_F32_U -> Op.CMP_LT_F64_U;
            case Op.CMP_LTE_F32_O -> Op.CMP_LTE_F64_O;
            case Op.CMP_LTE_F32_U -> Op.CMP_LTE_F64_U;
            default -> throw IreeException.of(StatusCode.INTERNAL, "operation " + op + " is not implemented");
        };
    }

    private static VmList list(@Nullable Object object) {
        if (object instanceof VmList list) {
            return list;
        }
        throw IreeException.of(
                StatusCode.INVALID_ARGUMENT,
                "reference is %s where a !vm.list is wanted".formatted(VmTypes.nameOf(object)));
    }

    private static float f32(int[] words, int at) {
        return Float.intBitsToFloat(words[at]);
    }

    private static double f64(int[] words, int at) {
        return Double.longBitsToDouble(getLong(words, at));
    }

    private static int bits(float value) {
        return Float.floatToRawIntBits(value);
    }

    private static void put(int[] words, int at, double value) {
        putLong(words, at, Double.doubleToRawLongBits(value));
    }
}
