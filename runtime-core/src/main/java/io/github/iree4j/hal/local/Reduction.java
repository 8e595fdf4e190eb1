package io.github.iree4j.hal.local;

import io.github.iree4j.hal.Collective;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;

/**
 * Reduces elements of several memories to a single element. Integers are reduced in 64 bits and truncated, floats in double
 * precision and rounded once.
 */
final class Reduction {
    private static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong I64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final int reduction;
    private final int type;
    private final int size;

    private Reduction(Collective operation) {
        this.reduction = operation.reduction();
        this.type = operation.elementType();
        this.size = operation.elementSize();
    }

    static Reduction of(Collective operation) {
        return new Reduction(operation);
    }

    /**
     * Reduces elements.
     *
     * @param sources the operands, reduced in this order
     * @param first index of the first element of each operand
     * @param targets the targets, written from the start
     * @param count number of elements
     */
    void reduce(List<MemorySegment> sources, long first, List<MemorySegment> targets, long count) {
        boolean real = type >= Collective.F16;
        for (long i = 0; i < count; i++) {
            long at = (first + i) * size;
            long bits = real ? encode(reals(sources, at)) : integers(sources, at);
            for (MemorySegment target : targets) {
                store(target, i * size, bits);
            }
        }
    }

    private double reals(List<MemorySegment> sources, long at) {
        double value = decode(sources.getFirst(), at);
        for (int i = 1; i < sources.size(); i++) {
            double next = decode(sources.get(i), at);
            value = switch (reduction) {
                case Collective.PRODUCT -> value * next;
                case Collective.MINIMUM -> Math.min(value, next);
                case Collective.MAXIMUM -> Math.max(value, next);
                default -> value + next;
            };
        }
        return reduction == Collective.AVERAGE ? value / sources.size() : value;
    }

    private long integers(List<MemorySegment> sources, long at) {
        boolean unsigned = type == Collective.U64; // narrower unsigned types are positive as longs
        long value = load(sources.getFirst(), at);
        for (int i = 1; i < sources.size(); i++) {
            long next = load(sources.get(i), at);
            value = switch (reduction) {
                case Collective.PRODUCT -> value * next;
                case Collective.MINIMUM -> isBelow(next, value, unsigned) ? next : value;
                case Collective.MAXIMUM -> isBelow(value, next, unsigned) ? next : value;
                default -> value + next;
            };
        }
        if (reduction != Collective.AVERAGE) {
            return value;
        }
        return unsigned ? Long.divideUnsigned(value, sources.size()) : value / sources.size();
    }

    private static boolean isBelow(long left, long right, boolean unsigned) {
        return unsigned ? Long.compareUnsigned(left, right) < 0 : left < right;
    }

    private long load(MemorySegment source, long at) {
        return switch (type) {
            case Collective.S8 -> source.get(ValueLayout.JAVA_BYTE, at);
            case Collective.U8 -> source.get(ValueLayout.JAVA_BYTE, at) & 0xFFL;
            case Collective.S16 -> source.get(I16, at);
            case Collective.U16 -> source.get(I16, at) & 0xFFFFL;
            case Collective.S32 -> source.get(I32, at);
            case Collective.U32 -> source.get(I32, at) & 0xFFFF_FFFFL;
            default -> source.get(I64, at);
        };
    }

    private double decode(MemorySegment source, long at) {
        return switch (type) {
            case Collective.F16 -> Float.float16ToFloat(source.get(I16, at));
            case Collective.BF16 -> Float.intBitsToFloat(source.get(I16, at) << 16);
            case Collective.F32 -> Float.intBitsToFloat(source.get(I32, at));
            default -> Double.longBitsToDouble(source.get(I64, at));
        };
    }

    private long encode(double value) {
        return switch (type) {
            case Collective.F16 -> Float.floatToFloat16((float) value);
            case Collective.BF16 -> upperHalf((float) value);
            case Collective.F32 -> Float.floatToRawIntBits((float) value);
            default -> Double.doubleToRawLongBits(value);
        };
    }

    /** Rounds to the nearest, ties to even. */
    private static int upperHalf(float value) {
        int bits = Float.floatToRawIntBits(value);
        if (Float.isNaN(value)) {
            return bits >>> 16 | 0x40; // stays NaN without the lower half
        }
        return bits + 0x7FFF + (bits >>> 16 & 1) >>> 16;
    }

    private void store(MemorySegment target, long at, long bits) {
        switch (size) {
            case 1 -> target.set(ValueLayout.JAVA_BYTE, at, (byte) bits);
            case 2 -> target.set(I16, at, (short) bits);
            case 4 -> target.set(I32, at, (int) bits);
            default -> target.set(I64, at, bits);
        }
    }
}
