package io.github.iree4j;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import java.lang.foreign.MemorySegment;
import java.util.function.Function;

/** Moves elements between tensors and one device. Safe from any thread. */
final class DeviceMemory {
    /** What inputs are allocated as: any use by programs, and mapped by us to fill them. */
    private static final BufferParams INPUT = BufferParams.DEFAULT;

    private final Device device;

    DeviceMemory(Device device) {
        this.device = device;
    }

    Device device() {
        return device;
    }

    /**
     * Makes a view that the device can use: the tensor's own one if it has one, else over its memory where that is possible, else over a
     * copy.
     *
     * @return the view; the caller releases it
     */
    BufferView upload(Tensor tensor) {
        BufferView own = tensor.view();
        if (own != null) {
            own.retain();
            return own;
        }
        Buffer buffer = buffer(tensor);
        try {
            return BufferView.create(buffer, tensor.shape(), tensor.elementType(), BufferView.ENCODING_DENSE_ROW_MAJOR);
        } finally {
            buffer.release();
        }
    }

    private Buffer buffer(Tensor tensor) {
        MemorySegment data = tensor.hostData();
        if (tensor.isImportable()) {
            return device.allocator().importHost(INPUT, data, tensor.lender());
        }
        Buffer buffer = device.allocator().allocate(INPUT, data.byteSize());
        try {
            buffer.map(MemoryAccess.DISCARD_WRITE, 0, data.byteSize()).copyFrom(data);
            return buffer;
        } catch (RuntimeException e) {
            buffer.release();
            throw e;
        }
    }

    /** Lets the caller look at the bytes of a view; through a copy when the host cannot map them. */
    <T> T read(BufferView view, Function<MemorySegment, T> reader) {
        Buffer buffer = view.buffer();
        if (isMappable(buffer)) {
            return reader.apply(buffer.map(MemoryAccess.READ, 0, view.byteLength()));
        }
        Buffer staging = device.allocator()
                .allocate(
                        new BufferParams(
                                MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE,
                                BufferUsage.TRANSFER_TARGET | BufferUsage.MAPPING),
                        view.byteLength());
        try {
            copyAndWait(buffer, staging, view.byteLength());
            return reader.apply(staging.map(MemoryAccess.READ, 0, view.byteLength()));
        } finally {
            staging.release();
        }
    }

    private static boolean isMappable(Buffer buffer) {
        return (buffer.memoryType() & MemoryType.HOST_VISIBLE) != 0
                && (buffer.usage() & (BufferUsage.MAPPING_SCOPED | BufferUsage.MAPPING_PERSISTENT)) != 0
                && (buffer.access() & MemoryAccess.READ) != 0;
    }

    private void copyAndWait(Buffer source, Buffer target, long length) {
        try (TimelineSemaphore semaphore = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence done = Fence.at(semaphore, 1)) {
            device.queue(0).copy(null, done, source, 0, target, 0, length, 0);
            done.await();
        }
    }
}
