package io.github.iree4j.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ArrivedBytesTest {
    private static final int FEW = 1 << 18;

    private static byte[] random(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }

    private static byte[] through(ByteArrayInputStream in, int size) throws IOException {
        try (ArrivedBytes bytes = ArrivedBytes.of(in, size, "tensor")) {
            MemorySegment target = MemorySegment.ofArray(new byte[size]);
            bytes.fill(target);
            return target.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    @Test
    void everyByteArrivesInOrderWhateverTheSize() throws IOException {
        for (int size : new int[] {0, 1, FEW - 1, FEW, FEW + 1, 2 * FEW, 4 * FEW + 3, 23 * FEW + 5}) {
            byte[] sent = random(size + 7);
            ByteArrayInputStream in = new ByteArrayInputStream(sent);
            assertThat(through(in, size)).isEqualTo(java.util.Arrays.copyOf(sent, size));
            assertThat(in.available()).as("left in the stream").isEqualTo(7);
        }
    }

    @Test
    void aQuarterArrivesBeforeMemoryIsAllocated() throws IOException {
        int size = 8 * FEW;
        ByteArrayInputStream in = new ByteArrayInputStream(random(size));
        ArrivedBytes.of(in, size, "tensor").close();
        assertThat(in.available()).isEqualTo(size - size / 4);
    }

    @Test
    void fewBytesAreNotWaitedFor() throws IOException {
        ByteArrayInputStream in = new ByteArrayInputStream(random(FEW));
        ArrivedBytes.of(in, FEW, "tensor").close();
        assertThat(in.available()).isEqualTo(FEW);
    }

    @Test
    void announcedButMissingBytesAreReportedBeforeMemoryIsAllocated() {
        assertThatThrownBy(() -> ArrivedBytes.of(new ByteArrayInputStream(new byte[100]), 1L << 60, "tensor 1x2xf32"))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("tensor 1x2xf32: the data ends after 100 of 1152921504606846976 bytes");
    }

    @Test
    void dataEndingLaterIsReported() {
        assertThatThrownBy(() -> through(new ByteArrayInputStream(new byte[3 * FEW]), 4 * FEW))
                .hasMessageContaining("the data ends after 786432 of 1048576 bytes");
    }
}
