package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tensor.DeviceMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TensorTest {
    private static void assertFails(StatusCode code, String message, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(code))
                .hasMessageContaining(message);
    }

    // -- shapes

    @Test
    void arrayWithoutShapeHasOneDimension() {
        Tensor tensor = Tensor.of(new float[] {1, 2, 3});
        assertThat(tensor.shape()).isEqualTo(Shape.of(3));
        assertThat(tensor.elementType()).isEqualTo(ElementType.F32);
        assertThat(tensor.byteSize()).isEqualTo(12);
    }

    @Test
    void scalarHasRankZeroAndASingleElement() {
        Tensor tensor = Tensor.scalar(3);
        assertThat(tensor.shape()).isEqualTo(Shape.SCALAR);
        assertThat(tensor.shape().elementCount()).isEqualTo(1);
        assertThat(tensor).hasToString("i32=3");
    }

    @Test
    void dimensionOfZeroHasNoElements() {
        Tensor tensor = Tensor.of(new float[0], 2, 0, 3);
        assertThat(tensor.toFloatArray()).isEmpty();
        assertThat(tensor).hasToString("2x0x3xf32=[][]");
    }

    @Test
    void arrayNotFillingTheShapeIsRefusedWithNumbers() {
        assertFails(
                StatusCode.INVALID_ARGUMENT,
                "array of 3 elements does not fill 2x2xf32, which has 4",
                () -> Tensor.of(new float[3], 2, 2));
    }

    @Test
    void impossibleShapesAreRefused() {
        assertFails(StatusCode.INVALID_ARGUMENT, "negative", () -> Tensor.zeros(ElementType.F32, 2, -1));
        assertThatThrownBy(() -> Tensor.zeros(ElementType.F32, Long.MAX_VALUE, 2))
                .isInstanceOf(IreeException.class);
        assertThatThrownBy(() -> Tensor.zeros(ElementType.F64, Long.MAX_VALUE / 4))
                .isInstanceOf(IreeException.class);
        assertFails(StatusCode.RESOURCE_EXHAUSTED, "16 GB", () -> Tensor.zeros(ElementType.I8, 1L << 40));
        assertFails(StatusCode.RESOURCE_EXHAUSTED, "16 GB", () -> Tensor.zeros(ElementType.I8, Long.MAX_VALUE));
        assertFails(StatusCode.INVALID_ARGUMENT, "limit", () -> Tensor.zeros(ElementType.I8, new long[129]));
        assertFails(StatusCode.INVALID_ARGUMENT, "no size", () -> Tensor.zeros(ElementType.NONE, 1));
    }

    @Test
    void tensorsTooLargeForTheHeapAreRefused() {
        long heap = Runtime.getRuntime().maxMemory();
        assertFails(StatusCode.RESOURCE_EXHAUSTED, "does not fit", () -> Tensor.zeros(ElementType.I8, heap));
    }

    @Test
    void laterChangesOfTheArraysChangeNothing() {
        float[] values = {1, 2};
        long[] shape = {2};
        Tensor tensor = Tensor.of(values, shape);
        values[0] = 9;
        shape[0] = 9;
        assertThat(tensor.toFloatArray()).containsExactly(1, 2);
        assertThat(tensor.shape()).isEqualTo(Shape.of(2));
    }

    // -- conversions

    @Test
    void floatsRoundToNearestInEveryFloatType() {
        float[] values = {0, -0f, 1, -2.5f, 0.1f, 3e4f, Float.NaN, Float.POSITIVE_INFINITY};
        assertThat(Tensor.of(ElementType.F16, values).toFloatArray())
                .containsExactly(0, -0f, 1, -2.5f, 0.099975586f, 3e4f, Float.NaN, Float.POSITIVE_INFINITY);
        assertThat(Tensor.of(ElementType.BF16, values).toFloatArray())
                .containsExactly(0, -0f, 1, -2.5f, 0.100097656f, 29952f, Float.NaN, Float.POSITIVE_INFINITY);
        assertThat(Tensor.of(ElementType.F8_E4M3_FN, new float[] {0.1f, 17, 500})
                        .toFloatArray())
                .containsExactly(0.1015625f, 16, Float.NaN);
        assertThat(Tensor.of(ElementType.F64, new float[] {0.5f}).toDoubleArray())
                .containsExactly(0.5);
    }

    @Test
    void brainFloatTiesGoToEven() {
        float halfWayToOdd = Float.intBitsToFloat(0x3F80_8000);
        float halfWayToEven = Float.intBitsToFloat(0x3F81_8000);
        assertThat(Tensor.of(ElementType.BF16, new float[] {halfWayToOdd, halfWayToEven})
                        .toFloatArray())
                .containsExactly(Float.intBitsToFloat(0x3F80_0000), Float.intBitsToFloat(0x3F82_0000));
    }

    @Test
    void integersKeepTheirSignOrHaveNone() {
        byte[] bits = {(byte) 200, -1, 5};
        MemorySegment data = MemorySegment.ofArray(bits);
        assertThat(Tensor.copyOf(data, ElementType.I8, 3).toIntArray()).containsExactly(-56, -1, 5);
        assertThat(Tensor.copyOf(data, ElementType.UI8, 3).toIntArray()).containsExactly(200, 255, 5);
        assertThat(Tensor.copyOf(data, ElementType.UI8, 3).toByteArray()).containsExactly(bits);
        assertThat(Tensor.copyOf(data, ElementType.UI8, 3).toFloatArray()).containsExactly(200, 255, 5);
    }

    @Test
    void fourBitIntegersArePackedLowHalfFirst() {
        Tensor tensor = Tensor.of(ElementType.UI4, new long[] {1, 15, 7});
        assertThat(tensor.byteSize()).isEqualTo(2);
        assertThat(tensor.rawBytes()).containsExactly(0xF1, 0x07);
        assertThat(tensor.toIntArray()).containsExactly(1, 15, 7);
        assertThat(Tensor.of(ElementType.SI4, new long[] {-8, 7}).toIntArray()).containsExactly(-8, 7);
        assertThat(tensor).hasToString("3xui4=1 15 7");
    }

    @Test
    void unsignedLongsConvertToTheNearestDouble() {
        long[] bits = {-1, Long.MIN_VALUE, Long.MIN_VALUE + 1025, 1};
        assertThat(Tensor.of(ElementType.UI64, bits).toDoubleArray()).containsExactly(0x1p64, 0x1p63, 0x1p63 + 2048, 1);
        assertThat(Tensor.of(ElementType.UI64, bits))
                .hasToString("4xui64=18446744073709551615 9223372036854775808 9223372036854776833 1");
    }

    @Test
    void tooLargeValuesAreOutOfRange() {
        assertFails(
                StatusCode.OUT_OF_RANGE,
                "element 1 is 128, which element type si8 cannot hold (-128 to 127)",
                () -> Tensor.of(ElementType.SI8, new long[] {0, 128}));
        assertFails(StatusCode.OUT_OF_RANGE, "element 0 is -1", () -> Tensor.of(ElementType.UI4, new long[] {-1}));
        assertFails(
                StatusCode.OUT_OF_RANGE,
                "element 0 is 65536",
                () -> Tensor.of(new int[] {65536}).toShortArray());
        assertFails(StatusCode.OUT_OF_RANGE, "element 0 is 2", () -> Tensor.of(ElementType.BOOL_8, new long[] {2}));
    }

    @Test
    void floatsDoNotBecomeIntegers() {
        assertFails(
                StatusCode.INVALID_ARGUMENT,
                "element type f32 does not convert to or from an integer; use floats, as of toFloatArray",
                () -> Tensor.of(new float[] {1}).toIntArray());
        assertFails(StatusCode.INVALID_ARGUMENT, "f32", () -> Tensor.of(ElementType.F32, new long[] {1}));
        assertFails(StatusCode.INVALID_ARGUMENT, "i32", () -> Tensor.of(ElementType.I32, new float[] {1}));
    }

    @Test
    void complexElementsComeAsBytesOnly() {
        Tensor tensor = Tensor.zeros(ElementType.COMPLEX_64, 1);
        assertFails(StatusCode.INVALID_ARGUMENT, "cf64", tensor::toFloatArray);
        assertThat(tensor.rawBytes()).hasSize(8);
        assertThat(tensor).hasToString("1xcf64=0000000000000000");
    }

    @Test
    void booleansAreBytesOfZeroAndOne() {
        Tensor tensor = Tensor.of(new boolean[] {true, false});
        assertThat(tensor.rawBytes()).containsExactly(1, 0);
        assertThat(tensor.toBooleanArray()).containsExactly(true, false);
        assertThat(tensor).hasToString("2xi1=01 00");
    }

    @Test
    void everyJavaArrayComesBackUnchanged() {
        assertThat(Tensor.of(new int[] {1, -2}).toIntArray()).containsExactly(1, -2);
        assertThat(Tensor.of(new long[] {1, Long.MIN_VALUE}).toLongArray()).containsExactly(1, Long.MIN_VALUE);
        assertThat(Tensor.of(new short[] {1, -2}).toShortArray()).containsExactly((short) 1, (short) -2);
        assertThat(Tensor.of(new byte[] {1, -2}).toByteArray()).containsExactly(1, -2);
        assertThat(Tensor.of(new double[] {0.1, -2}).toDoubleArray()).containsExactly(0.1, -2);
    }

    @Test
    void everyNumberTypeHoldsItsPrintedValue() {
        long seed = Effort.seed(20261120);
        Random random = new Random(seed);
        ElementType[] types = {
            ElementType.I4, ElementType.SI4, ElementType.UI4, ElementType.I8, ElementType.SI8, ElementType.UI8,
            ElementType.I16, ElementType.SI16, ElementType.UI16, ElementType.I32, ElementType.SI32, ElementType.UI32,
            ElementType.I64, ElementType.SI64, ElementType.UI64
        };
        for (ElementType type : types) {
            byte[] bits = new byte[40];
            random.nextBytes(bits);
            long count = bits.length * 8L / type.bitCount();
            Tensor tensor = Tensor.copyOf(MemorySegment.ofArray(bits), type, count);
            assertThat(Tensor.parse(tensor.format(1000)).rawBytes())
                    .as("%s, seed %d", tensor, seed)
                    .isEqualTo(bits);
        }
    }

    // -- memory of the caller

    @Test
    void wrappedMemoryIsLookedAtEachTime() {
        MemorySegment data = Arena.ofAuto().allocate(64, 64);
        Tensor tensor = Tensor.wrap(data, ElementType.F32, 4);
        data.set(ValueLayout.JAVA_FLOAT, 4, 7);
        assertThat(tensor.toFloatArray()).containsExactly(0, 7, 0, 0);
    }

    @Test
    void onlyUncloseableMemoryIsLentToDevices() {
        try (Arena shared = Arena.ofShared();
                Arena confined = Arena.ofConfined()) {
            assertThat(importable(shared.allocate(64, 64))).isFalse();
            assertThat(importable(confined.allocate(64, 64))).isFalse();
        }
        MemorySegment automatic = Arena.ofAuto().allocate(128, 64);
        assertThat(importable(automatic)).isTrue();
        assertThat(importable(automatic.asSlice(4, 64))).as("unaligned").isFalse();
        assertThat(importable(automatic.asReadOnly())).isFalse();
        assertThat(importable(Arena.global().allocate(64, 64))).isTrue();
        assertThat(importable(MemorySegment.ofBuffer(
                        ByteBuffer.allocateDirect(256).alignedSlice(64).slice(0, 64))))
                .isTrue();
        assertThat(importable(MemorySegment.ofArray(new long[8]))).isFalse();
    }

    private static boolean importable(MemorySegment segment) {
        return DeviceMemory.isImportable(segment);
    }

    @Test
    void shortSegmentIsRefusedWithBothSizes() {
        assertFails(
                StatusCode.INVALID_ARGUMENT,
                "segment of 15 bytes is too short for 4xf32, which takes 16 bytes",
                () -> Tensor.wrap(MemorySegment.ofArray(new byte[15]), ElementType.F32, 4));
        assertFails(
                StatusCode.INVALID_ARGUMENT,
                "segment of 3 bytes",
                () -> Tensor.of(new float[1]).copyTo(MemorySegment.ofArray(new byte[3])));
    }

    @Test
    void unalignedSegmentsAreRead() {
        byte[] bytes = new byte[9];
        bytes[1] = 1;
        bytes[5] = 2;
        Tensor tensor = Tensor.wrap(MemorySegment.ofArray(bytes).asSlice(1), ElementType.I32, 2);
        assertThat(tensor.toIntArray()).containsExactly(1, 2);
    }

    @Test
    void closedSegmentFailsTheUseAndNotTheJvm() {
        Tensor tensor;
        try (Arena arena = Arena.ofShared()) {
            tensor = Tensor.wrap(arena.allocate(16), ElementType.F32, 4);
        }
        assertFails(StatusCode.FAILED_PRECONDITION, "memory of tensor 4xf32 cannot be used", tensor::toFloatArray);
        assertThat(tensor.toString()).contains("cannot be used");
    }

    @Test
    void confinedSegmentFailsOnOtherThreads() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            Tensor tensor = Tensor.wrap(arena.allocate(16), ElementType.F32, 4);
            AtomicReference<Throwable> seen = new AtomicReference<>();
            Thread other = Thread.ofPlatform().start(() -> {
                try {
                    tensor.toFloatArray();
                } catch (Throwable e) {
                    seen.set(e);
                }
            });
            other.join();
            assertThat(seen.get())
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.FAILED_PRECONDITION));
        }
    }

    // -- closing

    @Test
    void closedTensorRefusesEveryUse() {
        Tensor tensor = Tensor.of(new float[] {1});
        tensor.close();
        tensor.close();
        assertThat(tensor.isClosed()).isTrue();
        assertFails(StatusCode.FAILED_PRECONDITION, "tensor 1xf32 is closed", tensor::toFloatArray);
        assertFails(StatusCode.FAILED_PRECONDITION, "closed", tensor::rawBytes);
        assertFails(StatusCode.FAILED_PRECONDITION, "closed", () -> tensor.format(1));
        assertFails(StatusCode.FAILED_PRECONDITION, "closed", tensor::copyToHost);
        assertThat(tensor).hasToString("closed tensor 1xf32");
        assertThat(tensor.shape()).isEqualTo(Shape.of(1));
    }

    @Test
    void readersRacingACloseReadAllOrNothing() throws Exception {
        for (int round = 0; round < 300; round++) {
            float[] values = new float[1000];
            java.util.Arrays.fill(values, 7);
            Tensor tensor = Tensor.of(values);
            CountDownLatch start = new CountDownLatch(1);
            AtomicReference<Throwable> wrong = new AtomicReference<>();
            Thread reader = Thread.ofPlatform().start(() -> {
                try {
                    start.await();
                    assertThat(tensor.toFloatArray()).containsOnly(7);
                } catch (IreeException e) {
                    if (e.code() != StatusCode.FAILED_PRECONDITION) {
                        wrong.set(e);
                    }
                } catch (Throwable e) {
                    wrong.set(e);
                }
            });
            start.countDown();
            tensor.close();
            reader.join();
            assertThat(wrong.get()).isNull();
        }
    }

    // -- text

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "4xf32=1 2 3 4 | 4xf32=1 2 3 4",
                "2x2xi32=[1 2][3 4] | 2x2xi32=[1 2][3 4]",
                "2x2xi32=[[1 2][3 4]] | 2x2xi32=[1 2][3 4]",
                "2x2xi32=1,2,3,4 | 2x2xi32=[1 2][3 4]",
                "4xf32=2 | 4xf32=2 2 2 2",
                "5xi4=-3 | 5xi4=-3 -3 -3 -3 -3",
                "2x2xi32 | 2x2xi32=[0 0][0 0]",
                "f32=3 | f32=3",
                "i8 | i8=0",
                "1x49xi8=255 | 1x49xi8=[-1 -1 -1]...",
                "3xi32=0x10 010 -1 | 3xi32=16 8 -1",
                "2xi32=4294967295 -2147483648 | 2xi32=-1 -2147483648",
                "3xf32=inf -INF nan | 3xf32=INF -INF NAN",
                "2xf64=-nan -NaN | 2xf64=-NAN -NAN",
                "2xf64=1e300 -1.5e-7 | 2xf64=1E+300 -1.5E-07",
                "3xi1=1 0 true | 3xi1=01 00 01",
                "2xbf16=1 3.14159 | 2xbf16=1 3.14062",
                "2xf16=65504 1e-8 | 2xf16=65504 0",
                "1xcf64=0000803F00000040 | 1xcf64=0000803F00000040",
                "0xf32 | 0xf32=",
                "2x0xf32= | 2x0xf32=[][]"
            })
    void readsAndPrintsAsIreeRunModule(String text, String printed) {
        if (printed.endsWith("...")) {
            assertThat(Tensor.parse(text).format(3)).startsWith(printed.substring(0, printed.length() - 4));
        } else {
            assertThat(Tensor.parse(text).format(100)).isEqualTo(printed);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "=",
                "4x",
                "4xf32=1 2",
                "4xf32=1 2 3 4 5",
                "2xi8=256 0",
                "1xui8=-1",
                "1xf32=1f",
                "1xi32=1.5",
                "1xi32=--1",
                "-1xf32=1",
                "axf32=1",
                "f32x4=1",
                "4x4x=1",
                "1xcf64=00",
                "99999999999999999999xf32",
                "4xf33=1 2 3 4",
                "1xi1=2",
                "9223372036854775807x9223372036854775807xi64"
            })
    void refusesTextOfNoTensor(String text) {
        assertThatThrownBy(() -> Tensor.parse(text)).isInstanceOf(IreeException.class);
    }

    @Test
    void anotherShapeHasTheSameElements() {
        Tensor tensor = Tensor.of(new int[] {1, 2, 3, 4, 5, 6}, 3, 2, 1);
        assertThat(tensor.reshape(2, 3)).hasToString("2x3xi32=[1 2 3][4 5 6]");
        assertThatThrownBy(() -> tensor.reshape(2, 2))
                .hasMessageContaining("tensor 3x2x1xi32 has 6 elements, and 2x2xi32 has 4");
    }

    @Test
    void limitOfElementsElidesTheRest() {
        Tensor tensor = Tensor.of(new int[] {1, 2, 3, 4, 5, 6}, 3, 2);
        assertThat(tensor.format(3)).isEqualTo("3x2xi32=[1 2][3...][...]");
        assertThat(Tensor.zeros(ElementType.I8, 1000, 1000).toString())
                .hasSizeLessThan(1000)
                .endsWith("...");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "-0.0, -0",
        "1, 1",
        "11, 11",
        "0.1, 0.1",
        "123456, 123456",
        "1234567, 1.23457E+06",
        "999999.5, 1E+06",
        "0.0001, 0.0001",
        "0.00001, 1E-05",
        "1e100, 1E+100",
        "-2.5, -2.5",
        "0.333333333, 0.333333",
        "1e-320, 9.99989E-321",
        "100000, 100000",
        "0.5, 0.5",
        "2.5e10, 2.5E+10"
    })
    void printsFloatsAsPrintf(double value, String printed) {
        assertThat(Tensor.scalar(value).format(1)).isEqualTo("f64=" + printed);
    }
}
