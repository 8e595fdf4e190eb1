package io.github.iree4j.modules.hal;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.hal.local.LocalDriverProvider;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.modules.ModuleCalls;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmModule;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * A local device with the hal module above, called like a program calls. Closing the fixture releases the references
 * returned by calls, and checks for leftover storage.
 */
final class HalFixture implements AutoCloseable {
    final AddKernel kernel = new AddKernel();
    final Device device = new LocalDriverProvider()
            .open(
                    "local",
                    DeviceOptions.builder()
                            .with(CpuOptions.DEFAULTS.workers(1).loader(kernel))
                            .build());
    final VmModule module;
    final ModuleCalls hal;
    private final Deque<RefCounted> owned = new ArrayDeque<>();

    HalFixture() {
        this((key, views) -> {});
    }

    HalFixture(TraceSink sink) {
        module = HalModule.create(List.of(device), sink);
        hal = new ModuleCalls(module);
    }

    /** Calls a function with a single result and keeps a reference until the end. */
    <T> T one(String name, String convention, Object... arguments) {
        T result = hal.one(name, convention, arguments);
        if (result instanceof RefCounted counted) {
            owned.push(counted);
        }
        return result;
    }

    List<Object> call(String name, String convention, Object... arguments) {
        return hal.call(name, convention, arguments);
    }

    IreeException failure(StatusCode code, String name, String convention, Object... arguments) {
        return hal.failure(code, name, convention, arguments);
    }

    <T extends RefCounted> T keep(T resource) {
        owned.push(resource);
        return resource;
    }

    /** Releases the reference returned last. */
    void releaseLast() {
        owned.pop().release();
    }

    Buffer buffer(int... values) {
        Buffer buffer = keep(device.allocator().allocate(BufferParams.DEFAULT, values.length * 4L));
        buffer.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).copyFrom(MemorySegment.ofArray(values));
        return buffer;
    }

    static int[] ints(Buffer buffer) {
        return buffer.map(MemoryAccess.READ, 0, Buffer.WHOLE).toArray(ValueLayout.JAVA_INT);
    }

    BufferView view(ElementType type, int encoding, long... shape) {
        return keep(BufferView.create(buffer(new int[64]), Shape.of(shape), type, encoding));
    }

    Fence fence() {
        return one("fence.create", "0rI_r", device, 0L);
    }

    static void assertReached(Fence fence) {
        fence.await(Duration.ofSeconds(60)); // other threads may still be at work
    }

    static VmBuffer text(String text) {
        return VmBuffer.ofUtf8(text);
    }

    static VmBuffer bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return VmBuffer.wrap(MemorySegment.ofArray(bytes), false, null);
    }

    @Override
    public void close() {
        while (!owned.isEmpty()) {
            owned.pop().release();
        }
        hal.close();
        assertThat(device.allocator().statistics().bytesLive())
                .as("bytes of unreferenced buffers")
                .isZero();
        device.close();
    }
}
