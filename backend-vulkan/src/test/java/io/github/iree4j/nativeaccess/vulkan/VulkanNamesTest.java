package io.github.iree4j.nativeaccess.vulkan;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.nativeaccess.NativeLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Numbers and names in both C and Java agree. */
class VulkanNamesTest {
    @BeforeAll
    static void bind() {
        NativeLibrary.bind(VulkanShim.class);
    }

    @Test
    void vulkanFeaturesAndKindsHaveTheSameNumbersAndNames() {
        for (VulkanFeature feature : VulkanFeature.values()) {
            assertThat(featureName(feature.ordinal())).isEqualTo(feature.name());
        }
        assertThat(featureName(VulkanFeature.values().length)).isEmpty();
        for (String kind : VulkanApi.KINDS) {
            assertThat(kindName(VulkanApi.KINDS.indexOf(kind))).isEqualTo(kind);
        }
        assertThat(kindName(VulkanApi.KINDS.size())).isEmpty();
    }

    private static String featureName(int bit) {
        return text((out, capacity) -> VulkanShim.featureName(bit, out, capacity));
    }

    private static String kindName(int kind) {
        return text((out, capacity) -> VulkanShim.kindName(kind, out, capacity));
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
