package io.github.iree4j.nativeaccess;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.status.StatusCode;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Declarations in both C and Java agree. */
class ShimTest {
    @BeforeAll
    static void load() {
        NativeLibrary.ensureAvailable();
    }

    @Test
    void statusCodesHaveTheSameNumbersAndNames() {
        for (StatusCode code : StatusCode.values()) {
            assertThat(name(code.number())).isEqualTo(code.name());
        }
        assertThat(name(StatusCode.values().length)).isEqualTo("UNKNOWN");
    }

    /** These tests run on Linux. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void linuxHasEachCapabilityKnownToJavaAndNoOther() {
        assertThat(SystemCapability.values()).allMatch(SystemCapability::isPresent);
        assertThat(Integer.bitCount(Shim.capabilities())).isEqualTo(SystemCapability.values().length);
    }

    private static String name(int number) {
        return Shim.text((out, capacity) -> Shim.statusName(number, out, capacity));
    }

    @Test
    void longTextIsReadWhole() {
        String text = Shim.text((out, capacity) -> {
            byte[] bytes = "ü".repeat(300).getBytes(java.nio.charset.StandardCharsets.UTF_8);
            writeBytes(out, bytes, Math.min(capacity, bytes.length));
            return bytes.length;
        });
        assertThat(text).isEqualTo("ü".repeat(300));
    }

    @SuppressWarnings("restricted")
    private static void writeBytes(long address, byte[] bytes, int count) {
        java.lang.foreign.MemorySegment.ofAddress(address)
                .reinterpret(count)
                .copyFrom(java.lang.foreign.MemorySegment.ofArray(bytes).asSlice(0, count));
    }
}
