package io.github.iree4j.nativeaccess.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.nativeaccess.NativeLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Numbers and names in both C and Java agree. */
class GpuNamesTest {
    @BeforeAll
    static void bind() {
        NativeLibrary.bind(GpuShim.class);
    }

    @Test
    void kindsOfObjectsOfGpusHaveTheSameNumbersAndNames() {
        for (int kind = 0; kind <= GpuDevice.KINDS.size(); kind++) {
            int number = kind;
            assertThat(text((out, capacity) -> GpuShim.kindName(number, out, capacity)))
                    .isEqualTo(kind < GpuDevice.KINDS.size() ? GpuDevice.KINDS.get(kind) : "");
        }
    }

    private interface Text {
        int write(long out, int capacity);
    }

    private static String text(Text source) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(256);
            int length = source.write(out.address(), 256);
            return new String(out.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
        }
    }
}
