package io.github.iree4j.nativeaccess;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Memory for pools. */
class SlabMemoryTest {
    private static final int PAGE_SIZE = 6; // AT_PAGESZ

    @Test
    void thePageSizeIsTheKernels() throws IOException {
        LongBuffer vector = ByteBuffer.wrap(Files.readAllBytes(Path.of("/proc/self/auxv")))
                .order(ByteOrder.nativeOrder())
                .asLongBuffer();
        long told = 0;
        while (vector.remaining() >= 2 && told == 0) {
            long key = vector.get();
            long value = vector.get();
            told = key == PAGE_SIZE ? value : 0;
        }
        assertThat(SlabMemory.pageSize()).isEqualTo(told).isPositive();
    }
}
