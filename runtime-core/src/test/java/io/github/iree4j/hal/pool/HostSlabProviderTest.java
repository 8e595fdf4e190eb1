package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HostSlabProviderTest {
    private static final int PAGE = 4096;

    private final HostSlabProvider provider = new HostSlabProvider();

    @ParameterizedTest
    @ValueSource(longs = {64, 4096, 1 << 16})
    void aSlabLiesBetweenPagesOfZeros(long alignment) {
        Slab slab = provider.acquire(100_000, alignment);
        MemorySegment bytes = ((HostSlab) slab).bytes();
        bytes.fill((byte) -1);
        assertThat(bytes.address()).isEqualTo(slab.address());
        assertThat(bytes.address() % alignment).isZero();
        assertThat(bytes.byteSize()).isEqualTo(100_000);
        assertThat(onlyZeros(bytes.address() - PAGE)).as("in front").isTrue();
        assertThat(onlyZeros(bytes.address() + bytes.byteSize())).as("behind").isTrue();
        provider.release(slab);
    }

    @Test
    void aSlabOfAnySizeIsAlignedForKernels() {
        Slab slab = provider.acquire(1, 1);
        assertThat(slab.address() % HostSlabProvider.ALIGNMENT).isZero();
        provider.release(slab);
    }

    @SuppressWarnings("restricted") // it looks beside what it was given
    private static boolean onlyZeros(long address) {
        byte[] page = MemorySegment.ofAddress(address).reinterpret(PAGE).toArray(ValueLayout.JAVA_BYTE);
        for (byte each : page) {
            if (each != 0) {
                return false;
            }
        }
        return true;
    }
}
