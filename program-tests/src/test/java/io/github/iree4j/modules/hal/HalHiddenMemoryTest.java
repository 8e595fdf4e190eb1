package io.github.iree4j.modules.hal;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.hal.vulkan.FakeDriver;
import io.github.iree4j.modules.ModuleCalls;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmBuffer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Operations of programs on buffers hidden from the host. */
class HalHiddenMemoryTest {
    @TempDir
    Path directory;

    private Device device;
    private ModuleCalls hal;

    @BeforeEach
    void open() {
        device = FakeDriver.deviceWithHiddenMemory(directory);
        hal = new ModuleCalls(HalModule.create(List.of(device), (key, views) -> {}));
    }

    @AfterEach
    void close() {
        if (device != null) {
            hal.close();
            assertThat(device.allocator().statistics().bytesLive()).isZero();
            device.close();
        }
    }

    private Buffer initialized(int... values) {
        Buffer buffer = hal.one(
                "allocator.allocate.initialized",
                "0riirII_r",
                device.allocator(),
                MemoryType.DEVICE_LOCAL,
                BufferUsage.DEFAULT,
                HalFixture.bytes(values),
                0L,
                -1L);
        assertThat(buffer.isMappable(MemoryAccess.READ)).isFalse();
        return buffer;
    }

    @Test
    void buffersAreLoadedAndStored() {
        Buffer buffer = initialized(1, 2, 3, 4, 5, 6, 7, 8);
        assertThat(hal.<Integer>one("buffer.load", "0rIi_i", buffer, 2L, 2)).isEqualTo(0x0403);
        hal.call("buffer.store", "0irIi_v", 0x11223344, buffer, 3L, 4);
        assertThat(hal.<Integer>one("buffer.load", "0rIi_i", buffer, 4L, 4)).isEqualTo(0x08112233);
        hal.failure(StatusCode.OUT_OF_RANGE, "buffer.load", "0rIi_i", buffer, 6L, 4);
        buffer.release();
    }

    @Test
    void tryingToUseConstantsInPlaceYieldsNullWhenImpossible() {
        try (Arena arena = Arena.ofShared()) {
            VmBuffer constant = VmBuffer.wrap(arena.allocate(64, 64).asReadOnly(), false, null);
            Object imported = hal.one(
                    "allocator.import",
                    "0riIiirII_r",
                    device.allocator(),
                    1,
                    -1L,
                    MemoryType.DEVICE_LOCAL,
                    BufferUsage.DEFAULT | BufferUsage.SHARING_IMMUTABLE,
                    constant,
                    0L,
                    -1L);
            assertThat(imported).isNull();
            constant.release();
        }
    }

    @Test
    void viewsAreReadForTracesAndChecks() {
        Buffer buffer = initialized(1, 0, 0, 0, 2, 0, 0, 0);
        BufferView view = BufferView.create(buffer, Shape.of(2), ElementType.I32, BufferView.ENCODING_DENSE_ROW_MAJOR);
        try (HostBytes bytes = HostBytes.of(view)) {
            MemorySegment segment = bytes.segment();
            assertThat(segment.toArray(ValueLayout.JAVA_INT)).containsExactly(1, 2);
        }
        view.release();
        buffer.release();
    }
}
