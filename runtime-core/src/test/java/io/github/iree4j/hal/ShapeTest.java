package io.github.iree4j.hal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShapeTest {
    @Test
    void countsElements() {
        assertThat(Shape.SCALAR.elementCount()).isEqualTo(1);
        assertThat(Shape.of(2, 3, 4).elementCount()).isEqualTo(24);
        assertThat(Shape.of(1L << 40, 1L << 40, 0).elementCount()).isZero();
        assertThat(Shape.of(Long.MAX_VALUE, 1).elementCount()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void refusesImpossibleShapes() {
        assertThatThrownBy(() -> Shape.of(1L << 32, 1L << 31)).hasMessageContaining("2^63 - 1");
        assertThatThrownBy(() -> Shape.of(0, -1)).hasMessageContaining("dimension 1 of shape 0x-1 is negative");
        assertThatThrownBy(() -> Shape.of(new long[129])).hasMessageContaining("the limit is 128");
    }

    @Test
    void givesItsDimensionsAndNoOthers() {
        Shape shape = Shape.of(2, 3);

        assertThat(shape.rank()).isEqualTo(2);
        assertThat(shape.dimension(1)).isEqualTo(3);
        for (int index : new int[] {-1, 2}) {
            assertThatThrownBy(() -> shape.dimension(index))
                    .asInstanceOf(InstanceOfAssertFactories.type(IreeException.class))
                    .extracting(IreeException::code)
                    .isEqualTo(StatusCode.OUT_OF_RANGE);
        }
    }

    @Test
    void arraysGivenAndTakenDoNotChangeIt() {
        long[] given = {2, 3};
        Shape shape = Shape.of(given);

        given[0] = 9;
        shape.dimensions()[1] = 9;

        assertThat(shape).isEqualTo(Shape.of(2, 3));
    }

    @Test
    void shapesOfTheSameDimensionsAreEqual() {
        assertThat(Shape.of()).isSameAs(Shape.SCALAR);
        assertThat(Shape.of(4, 2)).isEqualTo(Shape.of(4, 2)).hasSameHashCodeAs(Shape.of(4, 2));
        assertThat(Shape.of(4, 2)).isNotEqualTo(Shape.of(2, 4)).isNotEqualTo(Shape.of(4, 2, 1));
    }

    @Test
    void printsAndParses() {
        assertThat(Shape.of(1, 28, 28)).hasToString("1x28x28");
        assertThat(Shape.SCALAR).hasToString("");
        assertThat(Shape.SCALAR.format(ElementType.F32)).isEqualTo("f32");
        assertThat(Shape.of(4).format(ElementType.F32)).isEqualTo("4xf32");
        assertThat(Shape.parse("1x28x28")).isEqualTo(Shape.of(1, 28, 28));
        assertThat(Shape.parse("")).isEqualTo(Shape.SCALAR);
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "1x", "x1", "1xax2", "-1", "1.5", "99999999999999999999"})
    void refusesTextsOfNoShape(String text) {
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
