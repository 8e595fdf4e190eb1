package io.github.iree4j.nativeaccess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class SealedMemoryTest {
    @Test
    void sealedMemoryKeepsItsContentsAndIsReadOnly() {
        MemorySegment sealed;
        try (SealedMemory memory = SealedMemory.create(10_000)) {
            MemorySegment bytes = memory.writable();
            assertThat(bytes.byteSize()).isEqualTo(10_000);
            assertThat(bytes.address() % 4096).isZero();
            bytes.set(ValueLayout.JAVA_BYTE, 9_999, (byte) 7);
            sealed = memory.seal();
            assertThat(sealed.get(ValueLayout.JAVA_BYTE, 9_999)).isEqualTo((byte) 7);
            assertThat(sealed.get(ValueLayout.JAVA_BYTE, 0)).isZero();
            MemorySegment read = sealed;
            assertThatThrownBy(() -> read.set(ValueLayout.JAVA_BYTE, 0, (byte) 1))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> sealed.get(ValueLayout.JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void invalidSizesAreRefused() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> SealedMemory.create(0))
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> SealedMemory.create(Long.MAX_VALUE))
                .withMessageContaining("no memory for 9223372036854775807 bytes")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
    }
}
