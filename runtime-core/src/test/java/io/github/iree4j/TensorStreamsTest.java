package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.tensor.DeviceMemory;
import io.github.iree4j.vm.NativeModule;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tensors from and to streams, and inputs created in device memory. */
class TensorStreamsTest {

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4095, 4096, 16384, 16385, 100_000})
    void bytesComeBackUnchanged(int size) throws IOException {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        ByteArrayInputStream in = new ByteArrayInputStream(bytes);
        Tensor tensor = Tensor.read(in, ElementType.UI8, size);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        tensor.writeTo(out);
        assertThat(out.toByteArray()).isEqualTo(bytes);
        assertThat(tensor.rawBytes()).isEqualTo(bytes);
    }

    @Test
    void nothingBehindTheElementsIsRead() throws IOException {
        ByteArrayInputStream in = new ByteArrayInputStream(new byte[10]);
        assertThat(Tensor.read(in, ElementType.I32, 2).toIntArray()).containsExactly(0, 0);
        assertThat(in.available()).isEqualTo(2);
    }

    @Test
    void aStreamEndingTooEarlyIsReportedAsSuch() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> Tensor.read(new ByteArrayInputStream(new byte[10]), ElementType.F32, 3))
                .withMessage("tensor 3xf32: the data ends after 10 of 12 bytes")
                .extracting(IreeException::code)
                .isEqualTo(StatusCode.OUT_OF_RANGE);
    }

    @Test
    void theFailureOfAStreamIsTheCallers() {
        Tensor tensor = Tensor.of(new float[] {1, 2});
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> tensor.writeTo(new OutputStream() {
                    @Override
                    public void write(int b) throws IOException {
                        throw new IOException("broken pipe");
                    }
                }))
                .withMessage("broken pipe");
    }

    @Test
    void largeTensorsAreUsedInPlace() throws IOException {
        Tensor tensor = Tensor.read(new ByteArrayInputStream(new byte[8192]), ElementType.UI8, 8192);
        assertThat(DeviceMemory.isImportable(tensor.elements().host())).isTrue();
    }

    @Test
    void rowsAreCopiedOut() {
        Tensor tensor = Tensor.of(new float[] {1, 2, 3, 4, 5, 6}, 3, 2);
        assertThat(tensor.copyRows(1, 2)).hasToString("2x2xf32=[3 4][5 6]");
        assertThat(tensor.copyRows(3, 0).shape().elementCount()).isZero();
        for (long[] none : new long[][] {{-1, 1}, {2, 2}, {0, -1}, {Long.MAX_VALUE, 1}, {1, Long.MAX_VALUE}}) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> tensor.copyRows(none[0], none[1]))
                    .extracting(IreeException::code)
                    .isEqualTo(StatusCode.OUT_OF_RANGE);
        }
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> Tensor.scalar(1f).copyRows(0, 1))
                .withMessageContaining("no rows");
    }

    @Test
    void anInputIsMadeInMemoryOfTheDevice() throws IOException {
        IreeRuntime runtime = IreeRuntime.create();
        try (runtime;
                Program program = runtime.load(ProgramOptions.builder()
                        .module(NativeModule.builder("host", 1, Object::new).build())
                        .build())) {
            long before = runtime.monitor().leaks().bytesLive();
            try (Tensor input = program.upload(
                    ElementType.F32, Shape.of(2), memory -> memory.setAtIndex(ValueLayout.JAVA_FLOAT, 1, 5f))) {
                assertThat(input.toFloatArray()[1]).isEqualTo(5);
                assertThat(runtime.monitor().leaks().bytesLive()).isGreaterThan(before);
            }
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> program.upload(ElementType.F32, Shape.of(2), memory -> {
                        throw new IOException("connection reset");
                    }));
            assertThat(runtime.monitor().leaks().bytesLive()).isEqualTo(before);
        }
        LeakCheck.assertNone(runtime);
    }
}
