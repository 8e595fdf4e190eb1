package io.github.iree4j.modules.vmvx;

import java.lang.foreign.MemorySegment;

/** Element types of matrices, read as floats or ints. */
enum ElementKind {
    F32(32, true) {
        @Override
        float toFloat(MemorySegment from, long at) {
            return from.get(Grid.FLOAT, at * Float.BYTES);
        }
    },
    F16(16, true) {
        @Override
        float toFloat(MemorySegment from, long at) {
            return Float.float16ToFloat(from.get(Grid.SHORT, at * Short.BYTES));
        }
    },
    BF16(16, true) {
        @Override
        float toFloat(MemorySegment from, long at) {
            return Float.intBitsToFloat(from.get(Grid.SHORT, at * Short.BYTES) << 16);
        }
    },
    S32(32, false) {
        @Override
        int toInt(MemorySegment from, long at) {
            return from.get(Grid.INT, at * Integer.BYTES);
        }
    },
    S16(16, false) {
        @Override
        int toInt(MemorySegment from, long at) {
            return from.get(Grid.SHORT, at * Short.BYTES);
        }
    },
    S8(8, false) {
        @Override
        int toInt(MemorySegment from, long at) {
            return from.get(Grid.BYTE, at);
        }
    },
    /** Two to a byte, the lower half first. */
    S4(4, false) {
        @Override
        int toInt(MemorySegment from, long at) {
            int both = from.get(Grid.BYTE, at >> 1);
            return (at & 1) == 0 ? both << 28 >> 28 : both << 24 >> 28;
        }
    },
    /** Two to a byte, the lower half first. */
    U4(4, false) {
        @Override
        int toInt(MemorySegment from, long at) {
            int both = from.get(Grid.BYTE, at >> 1) & 0xFF;
            return (at & 1) == 0 ? both & 0xF : both >> 4;
        }
    };

    private final int bits;
    private final boolean isFloat;

    ElementKind(int bits, boolean isFloat) {
        this.bits = bits;
        this.isFloat = isFloat;
    }

    int bits() {
        return bits;
    }

    boolean isFloat() {
        return isFloat;
    }

    float toFloat(MemorySegment from, long at) {
        throw new AssertionError(this);
    }

    int toInt(MemorySegment from, long at) {
        throw new AssertionError(this);
    }

    /** Rounds to the nearest representable value, ties to even. */
    float round(float value) {
        return switch (this) {
            case F16 -> Float.float16ToFloat(Float.floatToFloat16(value));
            case BF16 -> Float.intBitsToFloat(bf16(value) << 16);
            default -> value;
        };
    }

    /** Stores a float; {@code at} is in elements. */
    void store(float value, MemorySegment to, long at) {
        switch (this) {
            case F16 -> to.set(Grid.SHORT, at * Short.BYTES, Float.floatToFloat16(value));
            case BF16 -> to.set(Grid.SHORT, at * Short.BYTES, (short) bf16(value));
            default -> to.set(Grid.FLOAT, at * Float.BYTES, value);
        }
    }

    private static int bf16(float value) {
        int raw = Float.floatToRawIntBits(value);
        if ((raw & 0x7FFF_FFFF) > 0x7F80_0000) {
            return raw >>> 16 | 0x40; // keeps a NaN a NaN
        }
        return raw + 0x7FFF + (raw >>> 16 & 1) >>> 16;
    }

    /**
     * Loads elements into an array: {@code run} elements are contiguous, the next elements {@code skip} further on.
     * Each kind has a separate loop, so that the loops are compiled separately.
     *
     * @param from the memory
     * @param at position of the first element, in elements
     * @param first number of elements until the first skip
     * @param run number of elements between skips
     * @param skip elements from the end of a run to the start of the next
     * @param to the array
     * @param count number of elements
     */
    void load(MemorySegment from, long at, int first, int run, long skip, float[] to, int count) {
        int left = first;
        long position = at;
        int i = 0;
        while (i < count) {
            int stop = i + Math.min(left, count - i);
            switch (this) {
                case F32 -> {
                    for (; i < stop; i++) {
                        to[i] = from.get(Grid.FLOAT, position++ * Float.BYTES);
                    }
                }
                case F16 -> {
                    for (; i < stop; i++) {
                        to[i] = Float.float16ToFloat(from.get(Grid.SHORT, position++ * Short.BYTES));
                    }
                }
                default -> {
                    for (; i < stop; i++) {
                        to[i] = Float.intBitsToFloat(from.get(Grid.SHORT, position++ * Short.BYTES) << 16);
                    }
                }
            }
            position += skip;
            left = run;
        }
    }

    /** As for floats. */
    void load(MemorySegment from, long at, int first, int run, long skip, int[] to, int count) {
        int left = first;
        long position = at;
        int i = 0;
        while (i < count) {
            int stop = i + Math.min(left, count - i);
            switch (this) {
                case S8 -> {
                    for (; i < stop; i++) {
                        to[i] = from.get(Grid.BYTE, position++);
                    }
                }
                case S16 -> {
                    for (; i < stop; i++) {
                        to[i] = from.get(Grid.SHORT, position++ * Short.BYTES);
                    }
                }
                default -> {
                    for (; i < stop; i++) {
                        to[i] = toInt(from, position++);
                    }
                }
            }
            position += skip;
            left = run;
        }
    }
}
