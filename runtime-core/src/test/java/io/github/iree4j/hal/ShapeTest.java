package io.github.iree4j.hal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShapeTest {
    @Test
    void countsElements() {
        assertThat(Shape.elementCount()).isEqualTo(1);
        assertThat(Shape.elementCount(2, 3, 4)).isEqualTo(24);
        assertThat(Shape.elementCount(1L << 40, 1L << 40, 0)).isZero();
        assertThat(Shape.elementCount(Long.MAX_VALUE, 1)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void refusesImpossibleShapes() {
        assertThatThrownBy(() -> Shape.elementCount(1L << 32, 1L << 31)).hasMessageContaining("2^63 - 1");
        assertThatThrownBy(() -> Shape.elementCount(0, -1))
                .hasMessageContaining("dimension 1 of shape 0x-1 is negative");
        assertThatThrownBy(() -> Shape.elementCount(new long[129])).hasMessageContaining("the limit is 128");
    }

    @Test
    void printsAndParses() {
        assertThat(Shape.format(1, 28, 28)).isEqualTo("1x28x28");
        assertThat(Shape.format(new long[0], ElementType.F32)).isEqualTo("f32");
        assertThat(Shape.format(new long[] {4}, ElementType.F32)).isEqualTo("4xf32");
        assertThat(Shape.parse("1x28x28")).containsExactly(1, 28, 28);
        assertThat(Shape.parse("")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "1x", "x1", "1xax2", "-1", "1.5", "99999999999999999999"})
    void refusesTextsThatAreNotShapes(String text) {
        assertThatThrownBy(() -> Shape.parse(text)).isInstanceOf(IreeException.class);
    }

    @Test
    void flagsArePrintedByName() {
        assertThat(MemoryType.format(MemoryType.DEVICE_LOCAL | MemoryType.HOST_VISIBLE))
                .isEqualTo("DEVICE_LOCAL|HOST_VISIBLE");
        assertThat(BufferUsage.format(BufferUsage.DEFAULT)).isEqualTo("TRANSFER|DISPATCH_STORAGE");
        assertThat(MemoryAccess.format(0)).isEqualTo("NONE");
        assertThat(MemoryAccess.format(0x41)).isEqualTo("READ|0x40");
        assertThat(MemoryType.HOST_LOCAL).isEqualTo(0x46);
        assertThat(MemoryType.DEVICE_LOCAL).isEqualTo(0x30);
        assertThat(BufferUsage.DEFAULT).isEqualTo(0xC03);
        assertThat(BufferUsage.MAPPING).isEqualTo(0x9000000);
    }
}
