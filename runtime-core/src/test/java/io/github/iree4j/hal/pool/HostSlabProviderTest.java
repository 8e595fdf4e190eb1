package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.nativeaccess.NativeLibrary;
import io.github.iree4j.nativeaccess.SlabMemory;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Memory allocated by Java, and memory of the native library. */
class HostSlabProviderTest {
    private static final int PAGE = 4096;
    private static final long LARGE_PAGE = 2 << 20;

    enum Kind {
        JAVA {
            @Override
            HostSlabProvider provider() {
                return new HostSlabProvider();
            }
        },
        NATIVE {
            @Override
            HostSlabProvider provider() {
                Assumptions.assumeTrue(NativeLibrary.unavailabilityCause() == null, "no native library");
                return new HostSlabProvider(SlabMemory::allocate);
            }
        };

        abstract HostSlabProvider provider();
    }

    @ParameterizedTest
    @EnumSource
    void aSlabIsZeroAndLiesBetweenPagesOfZeros(Kind kind) {
        HostSlabProvider provider = kind.provider();
        for (long alignment : List.of(1L, 64L, 4096L, 1L << 16, LARGE_PAGE)) {
            for (long size : List.of(1L, 100_000L, LARGE_PAGE, LARGE_PAGE + 12_345)) {
                Slab slab = provider.acquire(size, alignment);
                MemorySegment bytes = ((HostSlab) slab).bytes();
                assertThat(bytes.address()).isEqualTo(slab.address());
                assertThat(bytes.address() % Math.max(alignment, HostSlabProvider.ALIGNMENT))
                        .isZero();
                assertThat(bytes.byteSize()).isEqualTo(size);
                assertThat(bytes.mismatch(MemorySegment.ofArray(new byte[(int) size])))
                        .isEqualTo(-1);
                bytes.fill((byte) -1);
                assertThat(onlyZeros(bytes.address() - PAGE)).as("in front").isTrue();
                assertThat(onlyZeros(bytes.address() + size)).as("behind").isTrue();
                provider.release(slab);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aReleasedSlabCannotBeReadFromJava(Kind kind) {
        HostSlabProvider provider = kind.provider();
        Slab slab = provider.acquire(LARGE_PAGE, 64);
        MemorySegment bytes = ((HostSlab) slab).bytes();
        provider.release(slab);
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> bytes.get(ValueLayout.JAVA_BYTE, 0))
                .withMessageContaining("closed");
    }

    @ParameterizedTest
    @EnumSource
    void moreThanTheSystemHasIsRefusedAndLaterRequestsSucceed(Kind kind) {
        HostSlabProvider provider = kind.provider();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> provider.acquire(1L << 60, 64))
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
        List<Slab> slabs = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            slabs.add(provider.acquire(PAGE, 64));
        }
        slabs.forEach(provider::release);
    }

    @SuppressWarnings("restricted") // reads beside the slab
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
