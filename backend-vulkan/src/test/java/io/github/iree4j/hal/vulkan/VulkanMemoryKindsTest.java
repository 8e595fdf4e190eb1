package io.github.iree4j.hal.vulkan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.stream.MemoryKind;
import io.github.iree4j.hal.stream.MemoryKinds;
import io.github.iree4j.nativeaccess.vulkan.VulkanDeviceProperties;
import io.github.iree4j.nativeaccess.vulkan.VulkanDeviceProperties.MemoryHeap;
import io.github.iree4j.nativeaccess.vulkan.VulkanLimits;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Devices as described by drivers. */
class VulkanMemoryKindsTest {
    private static final int LOCAL = 1;
    private static final int MAPPED = 2 | 4;
    private static final int CACHED = 8;
    private static final int LAZY = 16;
    private static final long GIB = 1L << 30;

    private static VulkanDeviceProperties device(List<MemoryHeap> heaps, int[]... types) {
        VulkanLimits limits = new VulkanLimits(
                1 << 27, 16, 64, 128, 8, 16, 1, 1, 1, 1, 1, 1, 1, 1, 4096, GIB, 1, 8, 8, 8, 32, 1, 4096);
        return new VulkanDeviceProperties(
                0,
                "test",
                VulkanDeviceProperties.Type.OTHER,
                0,
                0,
                0,
                0,
                "",
                "",
                "",
                "",
                limits,
                0,
                heaps,
                Arrays.stream(types)
                        .map(type -> new VulkanDeviceProperties.MemoryType(type[0], type[1]))
                        .toList(),
                List.of());
    }

    private static int[] type(int flags, int heap) {
        return new int[] {flags, heap};
    }

    @Test
    void softwareDriverHasASingleKindForAll() {
        MemoryKinds choice = VulkanMemoryKinds.choose(
                device(List.of(new MemoryHeap(8 * GIB, true)), type(LOCAL | MAPPED | CACHED, 0)));
        assertThat(choice.kinds()).hasSize(1);
        assertThat(choice.upload()).isEqualTo(choice.device());
        assertThat(choice.readback()).isEqualTo(choice.device());
        assertThat(choice.shared()).isEqualTo(choice.device());
        assertThat(choice.device().halType())
                .isEqualTo(MemoryType.DEVICE_LOCAL | MemoryType.HOST_LOCAL | MemoryType.HOST_CACHED);
    }

    @Test
    void discreteDeviceHasHiddenMemory() {
        MemoryKinds choice = VulkanMemoryKinds.choose(device(
                List.of(new MemoryHeap(8 * GIB, true), new MemoryHeap(16 * GIB, false), new MemoryHeap(GIB / 4, true)),
                type(0, 1),
                type(LOCAL, 0),
                type(MAPPED, 1),
                type(MAPPED | CACHED, 1),
                type(LOCAL | MAPPED, 2)));
        assertThat(choice.device().type()).isEqualTo(1);
        assertThat(choice.device().isMappable()).isFalse();
        assertThat(choice.upload().type()).isEqualTo(2);
        assertThat(choice.readback().type()).isEqualTo(3);
        assertThat(choice.shared()).isNotNull().extracting(MemoryKind::type).isEqualTo(4);
        assertThat(choice.kinds())
                .extracting(MemoryKind::heapSize)
                .containsExactly(8 * GIB, GIB / 4, 16 * GIB, 16 * GIB);
    }

    @Test
    void deviceWithoutWindowHasNothingShared() {
        MemoryKinds choice = VulkanMemoryKinds.choose(device(
                List.of(new MemoryHeap(8 * GIB, true), new MemoryHeap(16 * GIB, false)),
                type(LOCAL, 0),
                type(MAPPED | CACHED, 1)));
        assertThat(choice.shared()).isNull();
        assertThat(choice.kinds()).hasSize(2);
        assertThat(choice.readback()).isEqualTo(choice.upload());
    }

    @Test
    void memoryWithUnknownPropertiesIsNotUsed() {
        MemoryKinds choice = VulkanMemoryKinds.choose(device(
                List.of(new MemoryHeap(8 * GIB, true)),
                type(LOCAL | LAZY, 0),
                type(LOCAL | MAPPED | 0x40, 0),
                type(LOCAL | MAPPED, 0)));
        assertThat(choice.kinds()).extracting(MemoryKind::type).containsExactly(2);
    }

    @Test
    void deviceWithoutMappableMemoryIsRefused() {
        assertThatThrownBy(() -> VulkanMemoryKinds.choose(device(List.of(new MemoryHeap(GIB, true)), type(LOCAL, 0))))
                .hasMessageContaining("has no memory for 'upload'");
    }
}
