package io.github.iree4j.modules.vmvx;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.modules.ModuleCalls;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmBuffer;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class VmvxModuleTest {
    private static final String UNARY = "0rIIIrIIIII_v";
    private static final String BINARY = "0rIIIrIIIrIIIII_v";

    private final ModuleCalls vmvx = new ModuleCalls(VmvxModule.create());

    @AfterEach
    void closeContext() {
        vmvx.close();
    }

    @Test
    void unaryFloatFunctionsComputeEachElement() {
        assertUnary("abs.2d.f32", new float[] {-1.5f, 2}, new float[] {1.5f, 2});
        assertUnary("ceil.2d.f32", new float[] {-1.5f, 1.2f}, new float[] {-1, 2});
        assertUnary("floor.2d.f32", new float[] {-1.5f, 1.2f}, new float[] {-2, 1});
        assertUnary("exp.2d.f32", new float[] {0, 1}, new float[] {1, (float) Math.E});
        assertUnary("log.2d.f32", new float[] {1, (float) Math.E}, new float[] {0, (float) Math.log((float) Math.E)});
        assertUnary("neg.2d.f32", new float[] {-1.5f, 2}, new float[] {1.5f, -2});
        assertUnary("rsqrt.2d.f32", new float[] {4, 0.25f}, new float[] {0.5f, 2});
    }

    private void assertUnary(String name, float[] in, float[] expected) {
        float[] out = new float[in.length];
        vmvx.call(name, UNARY, buffer(in), 0L, 2L, 1L, buffer(out), 0L, 2L, 1L, 1L, (long) in.length);
        assertThat(out).as(name).containsExactly(expected);
    }

    @Test
    void countLeadingZerosComputesEachElement() {
        int[] out = new int[3];
        vmvx.call("ctlz.2d.i32", UNARY, buffer(new int[] {0, 1, -1}), 0L, 1L, 1L, buffer(out), 0L, 1L, 1L, 1L, 3L);
        assertThat(out).containsExactly(32, 31, 0);
    }

    @Test
    void binaryFloatFunctionsComputeEachElement() {
        float[] lhs = {6, -3};
        float[] rhs = {4, 2};
        assertBinary("add.2d.f32", lhs, rhs, 10, -1);
        assertBinary("sub.2d.f32", lhs, rhs, 2, -5);
        assertBinary("mul.2d.f32", lhs, rhs, 24, -6);
        assertBinary("div.2d.f32", lhs, rhs, 1.5f, -1.5f);
    }

    private void assertBinary(String name, float[] lhs, float[] rhs, float... expected) {
        float[] out = new float[2];
        vmvx.call(name, BINARY, buffer(lhs), 0L, 2L, 1L, buffer(rhs), 0L, 2L, 1L, buffer(out), 0L, 2L, 1L, 1L, 2L);
        assertThat(out).as(name).containsExactly(expected);
    }

    @Test
    void binaryIntegerFunctionsComputeEachElement() {
        assertBinary("add.2d.i32", Integer.MAX_VALUE, 1, Integer.MIN_VALUE);
        assertBinary("sub.2d.i32", 1, 3, -2);
        assertBinary("mul.2d.i32", -7, 3, -21);
        assertBinary("and.2d.i32", 0b1100, 0b1010, 0b1000);
        assertBinary("or.2d.i32", 0b1100, 0b1010, 0b1110);
        assertBinary("xor.2d.i32", 0b1100, 0b1010, 0b0110);
        assertBinary("shl.2d.i32", 3, 4, 48);
        assertBinary("shrs.2d.i32", -16, 2, -4);
        assertBinary("shru.2d.i32", -16, 28, 15);
        assertBinary("divs.2d.i32", -7, 2, -3);
        assertBinary("divu.2d.i32", -2, 2, Integer.MAX_VALUE);
    }

    private void assertBinary(String name, int lhs, int rhs, int expected) {
        int[] out = new int[1];
        vmvx.call(
                name,
                BINARY,
                buffer(new int[] {lhs}),
                0L,
                1L,
                1L,
                buffer(new int[] {rhs}),
                0L,
                1L,
                1L,
                buffer(out),
                0L,
                1L,
                1L,
                1L,
                1L);
        assertThat(out).as(name).containsExactly(expected);
    }

    @Test
    void divisionOfIntegersByZeroFails() {
        int[] zero = {0};
        for (String name : new String[] {"divs.2d.i32", "divu.2d.i32"}) {
            assertThat(vmvx.failure(
                            StatusCode.INVALID_ARGUMENT,
                            name,
                            BINARY,
                            buffer(zero),
                            0L,
                            1L,
                            1L,
                            buffer(zero),
                            0L,
                            1L,
                            1L,
                            buffer(zero),
                            0L,
                            1L,
                            1L,
                            1L,
                            1L))
                    .hasMessageContaining("by zero");
        }
    }

    @Test
    void copiesMoveElementsOfAllWidthsThroughStrides() {
        for (int size : new int[] {1, 2, 4, 8}) {
            byte[] in = new byte[6 * size];
            new Random(size).nextBytes(in);
            byte[] out = new byte[6 * size];
            // 2 x 3 row-major to 3 x 2: transposed by strides.
            vmvx.call("copy.2d.x" + 8 * size, UNARY, buffer(in), 0L, 3L, 1L, buffer(out), 0L, 1L, 2L, 2L, 3L);
            for (int i = 0; i < 2; i++) {
                for (int j = 0; j < 3; j++) {
                    for (int b = 0; b < size; b++) {
                        assertThat(out[(j * 2 + i) * size + b]).isEqualTo(in[(i * 3 + j) * size + b]);
                    }
                }
            }
        }
    }

    @Test
    void aStrideOfZeroRepeatsAnInput() {
        float[] out = new float[4];
        vmvx.call(
                "add.2d.f32",
                BINARY,
                buffer(new float[] {1, 2}),
                0L,
                0L,
                1L,
                buffer(new float[] {10, 20}),
                0L,
                1L,
                0L,
                buffer(out),
                0L,
                2L,
                1L,
                2L,
                2L);
        assertThat(out).containsExactly(11, 12, 21, 22);
    }

    @Test
    void fillWritesRowsAndNothingInBetween() {
        int[] out = new int[6];
        vmvx.call("fill.2d.x32", "0irIIII_v", 7, buffer(out), 1L, 3L, 2L, 2L);
        assertThat(out).containsExactly(0, 7, 7, 0, 7, 7);
    }

    @Test
    void nothingIsAccessedWhenASizeIsZero() {
        VmBuffer none = buffer(new int[0]);
        vmvx.call("copy.2d.x32", UNARY, none, 99L, 1L, 1L, none, 99L, 1L, 1L, 0L, 5L);
    }

    @Test
    void rangesOutOfBoundsAreRefusedWithAnyNumbers() {
        float[] four = new float[4];
        long[][] cases = {
            {0, 4, 1, 1, 5},
            {1, 4, 1, 1, 4},
            {-1, 4, 1, 1, 1},
            {0, -1, 1, 2, 2},
            {0, 1, -1, 2, 2},
            {Long.MAX_VALUE, 1, 1, 1, 1},
            {0, Long.MAX_VALUE, 1, 3, 1},
            {0, 1L << 62, 1L << 62, 3, 3},
            {Long.MAX_VALUE - 1, 1, 1, 2, 2},
            {0, 2, 1, 1L << 40, 1L << 40},
        };
        for (long[] c : cases) {
            assertThat(vmvx.failure(
                            StatusCode.OUT_OF_RANGE,
                            "abs.2d.f32",
                            UNARY,
                            buffer(four),
                            c[0],
                            c[1],
                            c[2],
                            buffer(four),
                            c[0],
                            c[1],
                            c[2],
                            c[3],
                            c[4]))
                    .hasMessageContaining("does not fit in a buffer of 4 elements");
        }
        vmvx.failure(
                StatusCode.INVALID_ARGUMENT,
                "abs.2d.f32",
                UNARY,
                buffer(four),
                0L,
                1L,
                1L,
                buffer(four),
                0L,
                1L,
                1L,
                -1L,
                1L);
        vmvx.failure(
                StatusCode.INVALID_ARGUMENT,
                "abs.2d.f32",
                UNARY,
                buffer(four),
                0L,
                0L,
                0L,
                buffer(four),
                0L,
                0L,
                0L,
                1L << 31,
                1L << 31);
    }

    @Test
    void constantsCannotBeWritten() {
        VmBuffer constant = VmBuffer.wrap(MemorySegment.ofArray(new int[1]), false, null);
        assertThat(vmvx.failure(StatusCode.PERMISSION_DENIED, "fill.2d.x32", "0irIIII_v", 7, constant, 0L, 1L, 1L, 1L))
                .hasMessageContaining("'out' is a constant");
    }

    @Test
    void mmt4dMultipliesTilesOfBothTypes() {
        long seed = 20260801;
        Random random = new Random(seed);
        for (int round = 0; round < 20; round++) {
            int m = 1 + random.nextInt(3);
            int n = 1 + random.nextInt(3);
            int k = 1 + random.nextInt(3);
            int m0 = 1 + random.nextInt(4);
            int n0 = 1 + random.nextInt(4);
            int k0 = 1 + random.nextInt(4);
            boolean accumulate = random.nextBoolean();
            byte[] lhs = new byte[m * k * m0 * k0];
            byte[] rhs = new byte[n * k * n0 * k0];
            random.nextBytes(lhs);
            random.nextBytes(rhs);
            int[] out = random.ints(m * n * m0 * n0, -5, 5).toArray();
            int[] expected = new int[out.length];
            float[] lhsF = new float[lhs.length];
            float[] rhsF = new float[rhs.length];
            float[] outF = new float[out.length];
            for (int i = 0; i < lhs.length; i++) {
                lhsF[i] = lhs[i];
            }
            for (int i = 0; i < rhs.length; i++) {
                rhsF[i] = rhs[i];
            }
            for (int i = 0; i < out.length; i++) {
                outF[i] = out[i];
            }
            for (int i = 0; i < m * m0; i++) {
                for (int j = 0; j < n * n0; j++) {
                    int at = ((i / m0 * n + j / n0) * m0 + i % m0) * n0 + j % n0;
                    int sum = accumulate ? out[at] : 0;
                    for (int q = 0; q < k * k0; q++) {
                        sum += lhs[((i / m0 * k + q / k0) * m0 + i % m0) * k0 + q % k0]
                                * rhs[((j / n0 * k + q / k0) * n0 + j % n0) * k0 + q % k0];
                    }
                    expected[at] = sum;
                }
            }
            mmt4d(buffer(lhs), buffer(rhs), buffer(out), m, n, k, m0, n0, k0, 2 | (accumulate ? 0x100 : 0));
            assertThat(out).as("s8, seed %d, round %d", seed, round).containsExactly(expected);
            mmt4d(buffer(lhsF), buffer(rhsF), buffer(outF), m, n, k, m0, n0, k0, 1 | (accumulate ? 0x100 : 0));
            for (int i = 0; i < outF.length; i++) {
                assertThat(outF[i]).as("f32, seed %d, round %d", seed, round).isEqualTo((float) expected[i]);
            }
        }
    }

    private void mmt4d(
            VmBuffer lhs, VmBuffer rhs, VmBuffer out, int m, int n, int k, int m0, int n0, int k0, int flags) {
        vmvx.call(
                "mmt4d",
                "0rIIrIIrIIIIIiiii_v",
                lhs,
                0L,
                (long) k * m0 * k0,
                rhs,
                0L,
                (long) k * n0 * k0,
                out,
                0L,
                (long) n * m0 * n0,
                (long) m,
                (long) n,
                (long) k,
                m0,
                n0,
                k0,
                flags);
    }

    @Test
    void packPadsAndUnpackRestoresTheElements() {
        for (int transpose : new int[] {0, 0x100, 0x200, 0x300}) {
            int rows = 5;
            int columns = 7;
            int[] in = new int[rows * columns];
            for (int i = 0; i < in.length; i++) {
                in[i] = i + 1;
            }
            int rowTiles = 3;
            int columnTiles = 2;
            int rowsPerTile = 2;
            int columnsPerTile = 4;
            boolean outer = (transpose & 0x200) != 0;
            boolean inner = (transpose & 0x100) != 0;
            long outer0 = outer ? columnTiles : rowTiles;
            long outer1 = outer ? rowTiles : columnTiles;
            long tile0 = inner ? columnsPerTile : rowsPerTile;
            long tile1 = inner ? rowsPerTile : columnsPerTile;
            int[] packed = new int[48];
            vmvx.call(
                    "pack",
                    "0rIIIrIIIIIIIIIIi_v",
                    buffer(in),
                    0L,
                    7L,
                    1L,
                    buffer(packed),
                    0L,
                    outer1 * 8,
                    8L,
                    5L,
                    7L,
                    outer0,
                    outer1,
                    tile0,
                    tile1,
                    -9L,
                    3 | transpose);
            assertThat(packed).as("transpose %x", transpose).contains(in);
            assertThat(java.util.Arrays.stream(packed).filter(v -> v == -9).count())
                    .isEqualTo(48 - 35);
            if (transpose == 0) {
                assertThat(packed).startsWith(1, 2, 3, 4, 8, 9, 10, 11, 5, 6, 7, -9, 12, 13, 14, -9);
            }
            int[] out = new int[in.length];
            vmvx.call(
                    "unpack",
                    "0rIIIrIIIIIIIIIi_v",
                    buffer(packed),
                    0L,
                    outer1 * 8,
                    8L,
                    buffer(out),
                    0L,
                    7L,
                    1L,
                    outer0,
                    outer1,
                    tile0,
                    tile1,
                    5L,
                    7L,
                    3 | transpose);
            assertThat(out).as("transpose %x", transpose).containsExactly(in);
        }
    }

    @Test
    void formsUntilMay2024PackContiguousRows() {
        int[] in = {1, 2, 3, 4, 5, 6};
        int[] packed = new int[8];
        vmvx.call(
                "pack",
                "0rIIrIIIIIIIIIi_v",
                buffer(in),
                0L,
                3L,
                buffer(packed),
                0L,
                8L,
                2L,
                3L,
                1L,
                2L,
                2L,
                2L,
                -9L,
                3);
        assertThat(packed).containsExactly(1, 2, 4, 5, 3, -9, 6, -9);
        for (int type : new int[] {2, 3}) { // of integers, number 2 in 2023
            int[] out = new int[6];
            vmvx.call(
                    "unpack",
                    "0rIIrIIIIIIIIi_v",
                    buffer(packed),
                    0L,
                    8L,
                    buffer(out),
                    0L,
                    3L,
                    1L,
                    2L,
                    2L,
                    2L,
                    2L,
                    3L,
                    type);
            assertThat(out).containsExactly(in);
        }
    }

    @Test
    void packOfBytesUsesTheLowByteOfThePadding() {
        byte[] packed = new byte[4];
        vmvx.call(
                "pack",
                "0rIIIrIIIIIIIIIIi_v",
                buffer(new byte[] {5}),
                0L,
                1L,
                1L,
                buffer(packed),
                0L,
                4L,
                4L,
                1L,
                1L,
                1L,
                1L,
                2L,
                2L,
                0x1FFL,
                2);
        assertThat(packed).containsExactly(5, -1, -1, -1);
    }

    @Test
    void tilesNotCoveringTheMatrixAreRefused() {
        assertThat(vmvx.failure(
                        StatusCode.INVALID_ARGUMENT,
                        "pack",
                        "0rIIIrIIIIIIIIIIi_v",
                        buffer(new int[4]),
                        0L,
                        2L,
                        1L,
                        buffer(new int[2]),
                        0L,
                        2L,
                        2L,
                        2L,
                        2L,
                        1L,
                        1L,
                        1L,
                        2L,
                        0L,
                        3))
                .hasMessageContaining("do not cover");
    }

    @Test
    void tileSizesMatchTheGenericKernels() {
        assertThat(vmvx.call("query_tile_sizes.2d", "0IIi_II", 10L, 10L, 0x0101))
                .containsExactly(8L, 4L);
        assertThat(vmvx.call("query_tile_sizes.2d", "0IIi_II", 10L, 10L, 0x0202))
                .containsExactly(8L, 4L);
        assertThat(vmvx.call("query_tile_sizes.2d", "0IIi_II", 10L, 10L, 0x0103))
                .containsExactly(8L, 8L);
        vmvx.failure(StatusCode.INVALID_ARGUMENT, "query_tile_sizes.2d", "0IIi_II", 10L, 10L, 0);
    }

    private static VmBuffer buffer(float[] values) {
        return VmBuffer.wrap(MemorySegment.ofArray(values), true, null);
    }

    private static VmBuffer buffer(int[] values) {
        return VmBuffer.wrap(MemorySegment.ofArray(values), true, null);
    }

    private static VmBuffer buffer(byte[] values) {
        return VmBuffer.wrap(MemorySegment.ofArray(values), true, null);
    }
}
