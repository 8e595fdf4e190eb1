package io.github.iree4j.hal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ElementTypeTest {
    private static final Map<String, Integer> ENCODINGS = new TreeMap<>(Map.ofEntries(
            Map.entry("i1", 0x13000008),
            Map.entry("i4", 0x10000004),
            Map.entry("si4", 0x11000004),
            Map.entry("ui4", 0x12000004),
            Map.entry("i8", 0x10000008),
            Map.entry("si8", 0x11000008),
            Map.entry("ui8", 0x12000008),
            Map.entry("i16", 0x10000010),
            Map.entry("si32", 0x11000020),
            Map.entry("i32", 0x10000020),
            Map.entry("ui64", 0x12000040),
            Map.entry("f16", 0x21000010),
            Map.entry("f32", 0x21000020),
            Map.entry("f64", 0x21000040),
            Map.entry("bf16", 0x22000010),
            Map.entry("cf64", 0x23000040),
            Map.entry("cf128", 0x23000080),
            Map.entry("f8E5M2", 0x24000008),
            Map.entry("f8E4M3FN", 0x25000008),
            Map.entry("f8E5M2FNUZ", 0x26000008),
            Map.entry("f8E4M3FNUZ", 0x27000008),
            Map.entry("f8E8M0FNU", 0x28000008),
            Map.entry("*8", 0x00000008),
            Map.entry("*64", 0x00000040)));

    @Test
    void namesAndNumbersMatchTheRuntime() {
        ENCODINGS.forEach((name, encoding) -> {
            assertThat(ElementType.parse(name).encoding()).as(name).isEqualTo(encoding);
            assertThat(new ElementType(encoding)).hasToString(name);
        });
        assertThat(ElementType.parse("x32")).isEqualTo(ElementType.OPAQUE_32);
        assertThat(ElementType.NONE.encoding()).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "f", "f-8", "i300", "i9999999999", "q8", "f32 ", " f32", "f3x", "F32", "bf", "i+8", "\u0662"
            })
    void refusesTextsOfNoType(String text) {
        assertThatThrownBy(() -> ElementType.parse(text))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("'" + text + "' is not an element type");
    }

    @Test
    void kindsAreRecognized() {
        assertThat(ElementType.BF16.isFloat()).isTrue();
        assertThat(ElementType.F8_E8M0_FNU.isFloat()).isTrue();
        assertThat(ElementType.COMPLEX_64.isFloat()).isFalse();
        assertThat(ElementType.COMPLEX_64.isComplex()).isTrue();
        assertThat(ElementType.BOOL_8.isInteger()).isFalse();
        assertThat(ElementType.BOOL_8.isBoolean()).isTrue();
        assertThat(ElementType.UI8.isUnsigned()).isTrue();
        assertThat(ElementType.I8.isInteger()).isTrue();
        assertThat(ElementType.OPAQUE_8.isOpaque()).isTrue();
        assertThat(ElementType.I4.isByteAligned()).isFalse();
    }

    @Test
    void partsOfBytesRoundUp() {
        assertThat(ElementType.I4.byteSize(0)).isZero();
        assertThat(ElementType.I4.byteSize(1)).isEqualTo(1);
        assertThat(ElementType.I4.byteSize(3)).isEqualTo(2);
        assertThat(ElementType.I4.byteSize(Long.MAX_VALUE)).isEqualTo((Long.MAX_VALUE >> 1) + 1);
        assertThat(ElementType.F32.byteSize(3)).isEqualTo(12);
        ElementType i12 = ElementType.parse("i12");
        for (long count = 0; count < 100; count++) {
            assertThat(i12.byteSize(count)).isEqualTo((count * 12 + 7) / 8);
        }
    }

    @Test
    void impossibleSizesAreRefused() {
        assertThat(ElementType.I8.byteSize(Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
        for (ElementType type :
                new ElementType[] {ElementType.I16, ElementType.COMPLEX_128, ElementType.parse("i12")}) {
            assertThatThrownBy(() -> type.byteSize(Long.MAX_VALUE))
                    .isInstanceOf(IreeException.class)
                    .extracting(e -> ((IreeException) e).code())
                    .isEqualTo(StatusCode.OUT_OF_RANGE);
        }
        assertThatThrownBy(() -> ElementType.F32.byteSize(-1)).hasMessageContaining("negative");
    }
}
