package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.hal.ElementType;
import io.github.iree4j.status.IreeException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NpyFormatTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "4xf32=1 2 3 4",
                "2x2xsi32=[1 2][3 4]",
                "f64=0.5",
                "0xui8=",
                "3xi1=01 00 01",
                "2xf16=1 -2",
                "1x2x3xsi64=[[1 2 3][4 5 6]]",
                "1xcf64=0000803F00000040",
                "2xui16=1 65535",
                "2x*16=0102 0304"
            })
    void arraysComeBackUnchanged(String text) throws IOException {
        byte[] file = written(Tensor.parse(text));
        assertThat(file.length - Tensor.parse(text).byteSize())
                .as("length of the header")
                .isEqualTo(64 * ((file.length - Tensor.parse(text).byteSize()) / 64));
        assertThat(read(file)).hasToString(text);
    }

    @Test
    void headerIsAsNumpyWrites() throws IOException {
        String file = new String(written(Tensor.parse("4xf32=1 2 3 4")), StandardCharsets.ISO_8859_1);
        assertThat(file).startsWith("\u0093NUMPY\u0001\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }");
        assertThat(file.charAt(127)).isEqualTo('\n');
        assertThat(file).hasSize(128 + 16);
    }

    @Test
    void signlessIntegersAreSignedAndBrainFloatsAreBytes() throws IOException {
        assertThat(read(written(Tensor.parse("2xi32=1 -1")))).hasToString("2xsi32=1 -1");
        assertThat(read(written(Tensor.parse("1xbf16=1"))).elementType()).isEqualTo(ElementType.OPAQUE_16);
        assertThatThrownBy(() -> written(Tensor.parse("2xi4=1 2"))).isInstanceOf(IreeException.class);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{'descr': '<f4', 'fortran_order': True, 'shape': (1,), } | Fortran",
                "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), } | big-endian",
                "{'descr': '<O4', 'fortran_order': False, 'shape': (1,), } | '<O4' is not supported",
                "{'descr': '<f', 'fortran_order': False, 'shape': (1,), } | no width",
                "{'descr': '<f99999', 'fortran_order': False, 'shape': (1,), } | 99999",
                "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), } | negative",
                "{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999999), } | more bytes",
                "{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999,), } | larger than 2147483639",
                "{'descr': '<f4', 'fortran_order': False, 'shape': (a,), } | not a number",
                "{'descr': '<f4', 'fortran_order': False, } | no 'shape'",
                "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } | ends after 4 of 8 bytes"
            })
    void unreadableFilesExplainWhy(String header, String message) {
        byte[] bytes = (header + "\n").getBytes(StandardCharsets.ISO_8859_1);
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        file.writeBytes(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (byte) bytes.length, 0});
        file.writeBytes(bytes);
        file.writeBytes(new byte[4]);
        assertThatThrownBy(() -> read(file.toByteArray()))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining(message);
    }

    @Test
    void mutatedFilesAreReadOrRefused() throws IOException {
        long seed = Effort.seed(20261120);
        Random random = new Random(seed);
        byte[] good = written(Tensor.parse("2x2xf32=1"));
        for (int i = 0; i < 20_000; i++) {
            byte[] bad = good.clone();
            for (int n = random.nextInt(4); n >= 0; n--) {
                bad[random.nextInt(100)] = (byte) random.nextInt(128);
            }
            try {
                read(bad);
            } catch (IreeException e) {
                assertThat(e.getMessage()).isNotEmpty();
            } catch (RuntimeException e) {
                throw new AssertionError("seed " + seed, e);
            }
        }
    }

    private static byte[] written(Tensor tensor) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        NpyFormat.write(out, tensor);
        return out.toByteArray();
    }

    private static Tensor read(byte[] file) throws IOException {
        return NpyFormat.read(new ByteArrayInputStream(file));
    }
}
