package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.hal.vulkan.FakeDriver;
import io.github.iree4j.tensor.ArrivedBytes;
import io.github.iree4j.tensor.DeviceMemory;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tensors on a device with memory hidden from the host. */
class HiddenMemoryTensorTest {
    @TempDir
    Path directory;

    private Device device;
    private DeviceMemory memory;

    @BeforeEach
    void open() {
        device = FakeDriver.deviceWithHiddenMemory(directory);
        memory = new DeviceMemory(device);
    }

    @AfterEach
    void close() {
        if (device != null) {
            assertThat(device.allocator().statistics().bytesLive()).isZero();
            device.close();
        }
    }

    private float[] floats(BufferView view) {
        assertThat(view.buffer().isMappable(MemoryAccess.READ)).isFalse();
        return memory.read(view, bytes -> bytes.toArray(ValueLayout.JAVA_FLOAT));
    }

    @Test
    void uploadedTensorIsReadBack() {
        float[] values = new float[700_000]; // more than a staging slot
        for (int i = 0; i < values.length; i++) {
            values[i] = i;
        }
        BufferView view = memory.upload(Tensor.of(values, values.length).elements());
        assertThat(floats(view)).isEqualTo(values);
        view.release();
    }

    @Test
    void memoryUsedInPlaceByOthersIsCopied() {
        MemorySegment bytes = Arena.ofAuto().allocate(4096, 4096);
        bytes.set(ValueLayout.JAVA_FLOAT, 8, 3);
        Tensor tensor = Tensor.wrap(bytes, ElementType.F32, 1024);
        BufferView view = memory.upload(tensor.elements());
        assertThat(floats(view)[2]).isEqualTo(3);
        view.release();
        assertThatThrownBy(() -> memory.importInPlace(tensor.elements())).hasMessageContaining("copy it");
    }

    @Test
    void contentsFromAStreamGetThere() throws IOException {
        byte[] bytes = ByteBuffer.allocate(8)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putFloat(1)
                .putFloat(2)
                .array();
        BufferView view = memory.create(ElementType.F32, Shape.of(2), target -> fill(target, bytes));
        assertThat(floats(view)).containsExactly(1, 2);
        view.release();
        assertThatThrownBy(() -> memory.create(ElementType.F32, Shape.of(3), target -> fill(target, bytes)))
                .hasMessageContaining("ends");
    }

    private static void fill(MemorySegment target, byte[] bytes) throws IOException {
        try (ArrivedBytes arrived = ArrivedBytes.of(new ByteArrayInputStream(bytes), target.byteSize(), "tensor")) {
            arrived.fill(target);
        }
    }
}
