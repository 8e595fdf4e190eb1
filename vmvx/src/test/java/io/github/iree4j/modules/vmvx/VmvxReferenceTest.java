package io.github.iree4j.modules.vmvx;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.modules.ModuleCalls;
import io.github.iree4j.vm.VmBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.DoubleBinaryOperator;
import java.util.function.IntBinaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every function against a plain loop, on random shapes, strides, offsets and flags. */
class VmvxReferenceTest {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
    private static final String UNARY = "0rIIIrIIIII_v";
    private static final String BINARY = "0rIIIrIIIrIIIII_v";
    private static final int ROUNDS = 30;

    private final long seed = Long.getLong("iree4j.test.seed", 20261120L);
    private final SplittableRandom random = new SplittableRandom(seed);
    private final ModuleCalls vmvx = new ModuleCalls(VmvxModule.create());

    @AfterEach
    void closeContext() {
        vmvx.close();
    }

    /** A strided operand in separate memory, with room before and after. */
    private final class Operand {
        final long offset = random.nextLong(5);
        final long stride0;
        final long stride1;
        final MemorySegment bytes;

        Operand(long size0, long size1, int elementSize, boolean mayRepeat) {
            boolean transposed = random.nextInt(4) == 0;
            long gap = random.nextInt(3) == 0 ? random.nextInt(1, 4) : 1;
            long slack = random.nextInt(2) * random.nextLong(4);
            long inner = mayRepeat && random.nextInt(6) == 0 ? 0 : gap;
            long outer = mayRepeat && random.nextInt(6) == 0 ? 0 : (transposed ? size0 : size1) * gap + slack;
            stride0 = transposed ? inner : outer;
            stride1 = transposed ? outer : inner;
            long elements = offset + (size0 - 1) * stride0 + (size1 - 1) * stride1 + 1 + random.nextInt(3);
            bytes = MemorySegment.ofArray(new byte[(int) (elements * elementSize)]);
            for (long i = 0; i < bytes.byteSize(); i++) {
                bytes.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
            }
        }

        long at(long i, long j) {
            return offset + i * stride0 + j * stride1;
        }

        VmBuffer buffer() {
            return VmBuffer.wrap(bytes, true, null);
        }

        MemorySegment copy() {
            return MemorySegment.ofArray(bytes.toArray(ValueLayout.JAVA_BYTE));
        }
    }

    private void assertSame(MemorySegment actual, MemorySegment expected, String what) {
        assertThat(actual.mismatch(expected))
                .as("first differing byte, %s, seed %d", what, seed)
                .isEqualTo(-1);
    }

    private long size() {
        return random.nextInt(5) == 0 ? random.nextLong(1, 5000) : random.nextLong(1, 20);
    }

    @Test
    void binaryFunctionsOfIntegers() {
        Map<String, IntBinaryOperator> functions = new HashMap<>();
        functions.put("add.2d.i32", (a, b) -> a + b);
        functions.put("sub.2d.i32", (a, b) -> a - b);
        functions.put("mul.2d.i32", (a, b) -> a * b);
        functions.put("and.2d.i32", (a, b) -> a & b);
        functions.put("or.2d.i32", (a, b) -> a | b);
        functions.put("xor.2d.i32", (a, b) -> a ^ b);
        functions.put("shl.2d.i32", (a, b) -> a << b);
        functions.put("shrs.2d.i32", (a, b) -> a >> b);
        functions.put("shru.2d.i32", (a, b) -> a >>> b);
        functions.put("divs.2d.i32", (a, b) -> a / b);
        functions.put("divu.2d.i32", Integer::divideUnsigned);
        for (int round = 0; round < ROUNDS; round++) {
            for (Map.Entry<String, IntBinaryOperator> function : functions.entrySet()) {
                long size0 = random.nextLong(1, 12);
                long size1 = size() / size0 + 1;
                Operand a = new Operand(size0, size1, 4, true);
                Operand b = new Operand(size0, size1, 4, true);
                for (long i = 0; i + 4 <= b.bytes.byteSize(); i += 4) {
                    b.bytes.set(INT, i, b.bytes.get(INT, i) | 1); // a nonzero divisor
                }
                Operand out = new Operand(size0, size1, 4, false);
                MemorySegment expected = out.copy();
                for (long i = 0; i < size0; i++) {
                    for (long j = 0; j < size1; j++) {
                        int value = function.getValue()
                                .applyAsInt(a.bytes.get(INT, 4 * a.at(i, j)), b.bytes.get(INT, 4 * b.at(i, j)));
                        expected.set(INT, 4 * out.at(i, j), value);
                    }
                }
                binary(function.getKey(), a, b, out, size0, size1);
                assertSame(out.bytes, expected, function.getKey());
            }
        }
    }

    @Test
    void functionsOfFloats() {
        Map<String, DoubleBinaryOperator> functions = new HashMap<>();
        functions.put("add.2d.f32", (a, b) -> (float) a + (float) b);
        functions.put("sub.2d.f32", (a, b) -> (float) a - (float) b);
        functions.put("mul.2d.f32", (a, b) -> (float) a * (float) b);
        functions.put("div.2d.f32", (a, b) -> (float) a / (float) b);
        Map<String, DoubleBinaryOperator> unary = Map.of(
                "abs.2d.f32", (a, b) -> Math.abs(a),
                "ceil.2d.f32", (a, b) -> Math.ceil(a),
                "exp.2d.f32", (a, b) -> Math.exp(a),
                "floor.2d.f32", (a, b) -> Math.floor(a),
                "log.2d.f32", (a, b) -> Math.log(a),
                "neg.2d.f32", (a, b) -> -a,
                "rsqrt.2d.f32", (a, b) -> 1f / (float) Math.sqrt(a));
        functions.putAll(unary);
        for (int round = 0; round < ROUNDS; round++) {
            for (Map.Entry<String, DoubleBinaryOperator> function : functions.entrySet()) {
                long size0 = random.nextLong(1, 12);
                long size1 = size() / size0 + 1;
                Operand a = floats(new Operand(size0, size1, 4, true));
                Operand b = floats(new Operand(size0, size1, 4, true));
                Operand out = floats(new Operand(size0, size1, 4, false));
                MemorySegment expected = out.copy();
                for (long i = 0; i < size0; i++) {
                    for (long j = 0; j < size1; j++) {
                        double value = function.getValue()
                                .applyAsDouble(a.bytes.get(FLOAT, 4 * a.at(i, j)), b.bytes.get(FLOAT, 4 * b.at(i, j)));
                        expected.set(FLOAT, 4 * out.at(i, j), (float) value);
                    }
                }
                if (unary.containsKey(function.getKey())) {
                    unary(function.getKey(), a, out, size0, size1);
                } else {
                    binary(function.getKey(), a, b, out, size0, size1);
                }
                assertFloats(out.bytes, expected, function.getKey());
            }
        }
    }

    private Operand floats(Operand operand) {
        for (long i = 0; i + 4 <= operand.bytes.byteSize(); i += 4) {
            operand.bytes.set(FLOAT, i, random.nextFloat() * 20 - 4);
        }
        return operand;
    }

    /** Compares bits, except for equal NaNs. */
    private void assertFloats(MemorySegment actual, MemorySegment expected, String what) {
        for (long i = 0; i + 4 <= actual.byteSize(); i += 4) {
            float a = actual.get(FLOAT, i);
            float b = expected.get(FLOAT, i);
            if (Float.compare(a, b) != 0) {
                assertThat(a).as("%s at byte %d, seed %d", what, i, seed).isEqualTo(b);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 8})
    void copies(int elementSize) {
        for (int round = 0; round < ROUNDS; round++) {
            long size0 = random.nextLong(1, 12);
            long size1 = size() / size0 + 1;
            Operand in = new Operand(size0, size1, elementSize, true);
            Operand out = new Operand(size0, size1, elementSize, false);
            MemorySegment expected = out.copy();
            for (long i = 0; i < size0; i++) {
                for (long j = 0; j < size1; j++) {
                    MemorySegment.copy(
                            in.bytes, in.at(i, j) * elementSize, expected, out.at(i, j) * elementSize, elementSize);
                }
            }
            unary("copy.2d.x" + 8 * elementSize, in, out, size0, size1);
            assertSame(out.bytes, expected, "copy");
        }
    }

    @Test
    void fillsAndLeadingZeros() {
        for (int round = 0; round < ROUNDS; round++) {
            long size0 = random.nextLong(1, 12);
            long size1 = size() / size0 + 1;
            long stride = size1 + random.nextLong(4);
            MemorySegment bytes = MemorySegment.ofArray(new byte[(int) (4 * (3 + size0 * stride))]);
            MemorySegment expected = MemorySegment.ofArray(new byte[(int) bytes.byteSize()]);
            int value = random.nextInt();
            for (long i = 0; i < size0; i++) {
                for (long j = 0; j < size1; j++) {
                    expected.set(INT, 4 * (3 + i * stride + j), value);
                }
            }
            vmvx.call("fill.2d.x32", "0irIIII_v", value, VmBuffer.wrap(bytes, true, null), 3L, stride, size0, size1);
            assertSame(bytes, expected, "fill");

            Operand in = new Operand(size0, size1, 4, true);
            Operand out = new Operand(size0, size1, 4, false);
            expected = out.copy();
            for (long i = 0; i < size0; i++) {
                for (long j = 0; j < size1; j++) {
                    expected.set(
                            INT, 4 * out.at(i, j), Integer.numberOfLeadingZeros(in.bytes.get(INT, 4 * in.at(i, j))));
                }
            }
            unary("ctlz.2d.i32", in, out, size0, size1);
            assertSame(out.bytes, expected, "ctlz");
        }
    }

    private void unary(String name, Operand in, Operand out, long size0, long size1) {
        vmvx.call(
                name,
                UNARY,
                in.buffer(),
                in.offset,
                in.stride0,
                in.stride1,
                out.buffer(),
                out.offset,
                out.stride0,
                out.stride1,
                size0,
                size1);
    }

    private void binary(String name, Operand a, Operand b, Operand out, long size0, long size1) {
        vmvx.call(
                name,
                BINARY,
                a.buffer(),
                a.offset,
                a.stride0,
                a.stride1,
                b.buffer(),
                b.offset,
                b.stride0,
                b.stride1,
                out.buffer(),
                out.offset,
                out.stride0,
                out.stride1,
                size0,
                size1);
    }

    // -- matrices

    /** Element types of left side, right side and result, by type number. */
    private static final String[][] TYPES = {
        {},
        {"f32", "f32", "f32"},
        {"s8", "s8", "s32"},
        {"f16", "f16", "f32"},
        {"f16", "f16", "f16"},
        {"bf16", "bf16", "f32"},
        {"bf16", "bf16", "bf16"},
        {"s16", "s16", "s32"},
        {"s16", "u4", "s32"},
        {"s16", "s8", "s32"},
        {"s8", "s4", "s32"},
    };

    private static int bits(String type) {
        return Integer.parseInt(type.replaceAll("[a-z]", ""));
    }

    private static double read(String type, MemorySegment bytes, long at) {
        return switch (type) {
            case "f32" -> bytes.get(FLOAT, 4 * at);
            case "f16" -> Float.float16ToFloat(bytes.get(SHORT, 2 * at));
            case "bf16" -> Float.intBitsToFloat(bytes.get(SHORT, 2 * at) << 16);
            case "s32" -> bytes.get(INT, 4 * at);
            case "s16" -> bytes.get(SHORT, 2 * at);
            case "s8" -> bytes.get(ValueLayout.JAVA_BYTE, at);
            default -> {
                int nibble = bytes.get(ValueLayout.JAVA_BYTE, at / 2) >> (at % 2 == 0 ? 0 : 4) & 0xF;
                yield type.equals("s4") && nibble > 7 ? nibble - 16 : nibble;
            }
        };
    }

    private static float round(String type, float value) {
        if (type.equals("f16")) {
            return Float.float16ToFloat(Float.floatToFloat16(value));
        }
        if (type.equals("bf16")) { // the nearer of the two neighbours, the even number on a tie
            int low = Float.floatToRawIntBits(value) & 0xFFFF_0000;
            int rest = Float.floatToRawIntBits(value) & 0xFFFF;
            boolean up = rest > 0x8000 || rest == 0x8000 && (low & 0x1_0000) != 0;
            return Float.intBitsToFloat(up ? low + 0x1_0000 : low);
        }
        return value;
    }

    private static void write(String type, MemorySegment bytes, long at, float value) {
        switch (type) {
            case "f32" -> bytes.set(FLOAT, 4 * at, value);
            case "f16" -> bytes.set(SHORT, 2 * at, Float.floatToFloat16(value));
            default -> bytes.set(SHORT, 2 * at, (short) (Float.floatToRawIntBits(value) >> 16));
        }
    }

    private MemorySegment matrix(String type, long elements) {
        MemorySegment bytes = MemorySegment.ofArray(new byte[(int) ((elements * bits(type) + 7) / 8)]);
        for (long i = 0; i < bytes.byteSize(); i++) {
            bytes.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
        }
        if (type.contains("f")) {
            for (long i = 0; i < elements; i++) {
                write(type, bytes, i, round(type, random.nextFloat() * 4 - 2));
            }
        }
        return bytes;
    }

    @Tag("long")
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void products(int type) {
        for (int round = 0; round < Effort.rounds(30, 100); round++) {
            String lhsType = TYPES[type][0];
            String rhsType = TYPES[type][1];
            String outType = TYPES[type][2];
            boolean large = round % 10 == 0 && (type == 1 || !Effort.isBrief());
            int m0 = random.nextInt(1, large ? 40 : 10);
            int n0 = random.nextInt(1, large ? 40 : 10);
            int k0 = random.nextInt(1, 6) * (type == 8 || type == 10 ? 2 : 1);
            long m = random.nextLong(1, large ? 12 : 4);
            long n = random.nextLong(1, large ? 12 : 4);
            long k = random.nextLong(0, large ? 60 : 6);
            boolean accumulate = random.nextBoolean();
            boolean skip = random.nextBoolean();
            int flags = type | (accumulate ? 0x100 : 0) | (random.nextBoolean() ? 0x200 : 0) | (skip ? 0x400 : 0);
            long lhsStride = k * m0 * k0 + 2 * random.nextLong(3);
            long rhsStride = k * n0 * k0 + 2 * random.nextLong(3);
            long outStride = n * m0 * n0 + random.nextLong(3);
            long offset = 2 * random.nextLong(3);
            MemorySegment lhs = matrix(lhsType, offset + m * lhsStride + 8);
            MemorySegment rhs = matrix(rhsType, offset + n * rhsStride + 8);
            MemorySegment out = matrix(outType, offset + m * outStride);
            MemorySegment expected = MemorySegment.ofArray(out.toArray(ValueLayout.JAVA_BYTE));
            for (long i = 0; i < m; i++) {
                for (long j = 0; j < n; j++) {
                    for (int i0 = 0; i0 < m0; i0++) {
                        for (int j0 = 0; j0 < n0; j0++) {
                            long at = offset + i * outStride + (j * m0 + i0) * n0 + j0;
                            int wholes = accumulate && outType.equals("s32") ? (int) read(outType, out, at) : 0;
                            float sum = accumulate ? (float) read(outType, out, at) : 0;
                            for (long p = 0; p < k; p++) {
                                for (int q = 0; q < k0; q++) {
                                    double a = read(lhsType, lhs, offset + i * lhsStride + (p * m0 + i0) * k0 + q);
                                    double b = read(rhsType, rhs, offset + j * rhsStride + (p * n0 + j0) * k0 + q);
                                    wholes += (int) a * (int) b;
                                    sum += (float) a * (float) b;
                                    sum = skip ? sum : round(outType, sum);
                                }
                            }
                            if (outType.equals("s32")) {
                                expected.set(INT, 4 * at, wholes);
                            } else {
                                write(outType, expected, at, round(outType, sum));
                            }
                        }
                    }
                }
            }
            vmvx.call(
                    "mmt4d",
                    "0rIIrIIrIIIIIiiii_v",
                    VmBuffer.wrap(lhs, false, null),
                    offset,
                    lhsStride,
                    VmBuffer.wrap(rhs, false, null),
                    offset,
                    rhsStride,
                    VmBuffer.wrap(out, true, null),
                    offset,
                    outStride,
                    m,
                    n,
                    k,
                    m0,
                    n0,
                    k0,
                    flags);
            assertSame(out, expected, "type %d, %dx%dx%d tiles of %dx%dx%d".formatted(type, m, n, k, m0, n0, k0));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5})
    void packingAndUnpacking(int type) {
        int size = type == 2 ? 1 : type > 3 ? 2 : 4;
        for (int round = 0; round < ROUNDS; round++) {
            long tile0 = random.nextLong(1, 9);
            long tile1 = random.nextLong(1, 9);
            boolean outer = random.nextBoolean();
            boolean inner = random.nextBoolean();
            int flags = type | (inner ? 0x100 : 0) | (outer ? 0x200 : 0);
            long rowsPerTile = inner ? tile1 : tile0;
            long columnsPerTile = inner ? tile0 : tile1;
            long rows = random.nextLong(1, 30);
            long columns = random.nextLong(1, 30);
            long rowTiles = (rows + rowsPerTile - 1) / rowsPerTile + random.nextInt(2);
            long columnTiles = (columns + columnsPerTile - 1) / columnsPerTile + random.nextInt(2);
            long outer0 = outer ? columnTiles : rowTiles;
            long outer1 = outer ? rowTiles : columnTiles;
            long stride = outer1 * tile0 * tile1 + random.nextLong(3);
            long padding = random.nextLong();
            Operand in = new Operand(rows, columns, size, true);
            MemorySegment tiled = MemorySegment.ofArray(new byte[(int) ((outer0 * stride + 2) * size)]);
            MemorySegment expected = MemorySegment.ofArray(new byte[(int) tiled.byteSize()]);
            MemorySegment pad = MemorySegment.ofArray(new long[] {padding});
            for (long row = 0; row < rowTiles * rowsPerTile; row++) {
                for (long column = 0; column < columnTiles * columnsPerTile; column++) {
                    long to = 2
                            + tiledPosition(
                                    row, column, outer, inner, rowsPerTile, columnsPerTile, tile0, tile1, stride);
                    boolean inside = row < rows && column < columns;
                    MemorySegment.copy(
                            inside ? in.bytes : pad, inside ? in.at(row, column) * size : 0, expected, to * size, size);
                }
            }
            vmvx.call(
                    "pack",
                    "0rIIIrIIIIIIIIIIi_v",
                    in.buffer(),
                    in.offset,
                    in.stride0,
                    in.stride1,
                    VmBuffer.wrap(tiled, true, null),
                    2L,
                    stride,
                    tile0 * tile1,
                    rows,
                    columns,
                    outer0,
                    outer1,
                    tile0,
                    tile1,
                    padding,
                    flags);
            if (in.stride1 == 1) { // as written by compilers until May 2024
                tiled.fill((byte) 0);
                vmvx.call(
                        "pack",
                        "0rIIrIIIIIIIIIi_v",
                        in.buffer(),
                        in.offset,
                        in.stride0,
                        VmBuffer.wrap(tiled, true, null),
                        2L,
                        stride,
                        rows,
                        columns,
                        outer0,
                        outer1,
                        tile0,
                        tile1,
                        padding,
                        flags);
                assertSame(tiled, expected, "older pack of %dx%d, flags %x".formatted(rows, columns, flags));
            }
            assertSame(tiled, expected, "pack of %dx%d, flags %x".formatted(rows, columns, flags));
            if (type == 2) {
                continue; // there is no such unpack
            }
            Operand out = new Operand(rows, columns, size, false);
            MemorySegment back = out.copy();
            for (long row = 0; row < rows; row++) {
                for (long column = 0; column < columns; column++) {
                    long from = 2
                            + tiledPosition(
                                    row, column, outer, inner, rowsPerTile, columnsPerTile, tile0, tile1, stride);
                    MemorySegment.copy(tiled, from * size, back, out.at(row, column) * size, size);
                }
            }
            vmvx.call(
                    "unpack",
                    "0rIIIrIIIIIIIIIi_v",
                    VmBuffer.wrap(tiled, false, null),
                    2L,
                    stride,
                    tile0 * tile1,
                    out.buffer(),
                    out.offset,
                    out.stride0,
                    out.stride1,
                    outer0,
                    outer1,
                    tile0,
                    tile1,
                    rows,
                    columns,
                    flags);
            if (out.stride1 == 1) {
                MemorySegment again = out.copy();
                again.fill((byte) 0);
                vmvx.call(
                        "unpack",
                        "0rIIrIIIIIIIIi_v",
                        VmBuffer.wrap(tiled, false, null),
                        2L,
                        stride,
                        VmBuffer.wrap(again, true, null),
                        out.offset,
                        out.stride0,
                        outer0,
                        outer1,
                        tile0,
                        tile1,
                        rows,
                        columns,
                        flags);
                for (long row = 0; row < rows; row++) {
                    long at = out.at(row, 0) * size;
                    assertSame(again.asSlice(at, columns * size), back.asSlice(at, columns * size), "older unpack");
                }
            }
            assertSame(out.bytes, back, "unpack of %dx%d, flags %x".formatted(rows, columns, flags));
        }
    }

    private static long tiledPosition(
            long row,
            long column,
            boolean outer,
            boolean inner,
            long rowsPerTile,
            long columnsPerTile,
            long tile0,
            long tile1,
            long stride) {
        long tileRow = row / rowsPerTile;
        long tileColumn = column / columnsPerTile;
        long inRow = row % rowsPerTile;
        long inColumn = column % columnsPerTile;
        long a = outer ? tileColumn : tileRow;
        long b = outer ? tileRow : tileColumn;
        long c = inner ? inColumn : inRow;
        long d = inner ? inRow : inColumn;
        return a * stride + (b * tile0 + c) * tile1 + d;
    }
}
