package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.sample.Drawing.Point;
import java.util.List;
import org.junit.jupiter.api.Test;

class DrawingTests {

    @Test
    void emptyDrawingIsAnEmptyPicture() {
        assertThat(new Drawing(List.of()).pixels()).containsOnly(0).hasSize(64);
        assertThat(new Drawing(List.of(List.of())).pixels()).containsOnly(0);
    }

    @Test
    void dotIsCentred() {
        float[] pixels = new Drawing(List.of(List.of(new Point(-7, 9)))).pixels();
        for (int y = 0; y < 8; y++) {
            for (int x = 0; x < 8; x++) {
                boolean isMiddle = (x == 3 || x == 4) && (y == 3 || y == 4);
                assertThat(pixels[y * 8 + x] > 0).as("pixel %d, %d", x, y).isEqualTo(isMiddle);
            }
        }
    }

    @Test
    void verticalLineFillsTheHeight() {
        float[] pixels = new Drawing(List.of(List.of(new Point(10, 10), new Point(10, 11)))).pixels();
        for (int y = 0; y < 8; y++) {
            assertThat(pixels[y * 8 + 3]).isPositive();
            assertThat(pixels[y * 8 + 4]).isPositive();
            assertThat(pixels[y * 8]).isZero();
            assertThat(pixels[y * 8 + 7]).isZero();
        }
    }

    @Test
    void horizontalLineStaysFlat() {
        float[] pixels = new Drawing(List.of(List.of(new Point(0, 5), new Point(100, 5)))).pixels();
        for (int x = 1; x < 7; x++) {
            assertThat(pixels[3 * 8 + x] + pixels[4 * 8 + x]).isPositive();
            assertThat(pixels[x]).isZero();
            assertThat(pixels[7 * 8 + x]).isZero();
        }
    }

    @Test
    void sizeAndPlaceMakeNoDifference() {
        for (int digit = 0; digit < 10; digit++) {
            for (Drawing drawing : SyntheticDigits.of(digit)) {
                Drawing moved = new Drawing(drawing.strokes().stream()
                        .map(stroke -> stroke.stream()
                                .map(point -> new Point(1000 + 4 * point.x(), 4 * point.y() - 512))
                                .toList())
                        .toList());
                assertThat(moved.pixels()).as("a %d", digit).containsExactly(drawing.pixels());
            }
        }
    }

    @Test
    void pixelsHaveTheRangeOfTheDataSet() {
        for (int digit = 0; digit < 10; digit++) {
            for (Drawing drawing : SyntheticDigits.of(digit)) {
                for (float pixel : drawing.pixels()) {
                    assertThat(pixel).isBetween(0f, 16f).isEqualTo(Math.round(pixel));
                }
            }
        }
    }
}
