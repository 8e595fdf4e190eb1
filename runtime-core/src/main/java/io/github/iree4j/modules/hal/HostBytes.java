package io.github.iree4j.modules.hal;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.QueueAffinity;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The bytes of a buffer view for the host to read: the view's own where the host can map them, else a copy. */
public final class HostBytes implements AutoCloseable {
    private final Buffer buffer;
    private final MemorySegment bytes;

    private HostBytes(Buffer buffer, long length) {
        this.buffer = buffer;
        this.bytes = buffer.map(MemoryAccess.READ, 0, length);
    }

    /**
     * Makes the elements of a dense view readable. May block for a copy.
     *
     * @param device the device to copy with, if a copy is needed; null when there is none
     * @param view the view; its contents must be ready
     * @return the bytes, to be closed by the caller
     * @throws io.github.iree4j.status.IreeException when the buffer can be neither mapped nor copied
     */
    public static HostBytes of(@Nullable Device device, BufferView view) {
        Buffer source = view.buffer();
        if ((source.memoryType() & MemoryType.HOST_VISIBLE) != 0
                && (source.usage() & BufferUsage.MAPPING_SCOPED) != 0) {
            source.retain();
            return owning(source, view.byteLength());
        }
        if (device == null) {
            throw new IreeException(
                    StatusCode.FAILED_PRECONDITION,
                    "the host cannot read a buffer in " + MemoryType.format(source.memoryType()));
        }
        BufferParams params = new BufferParams(
                MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE, BufferUsage.TRANSFER | BufferUsage.MAPPING);
        Buffer copy = device.allocator().allocate(params, view.byteLength());
        try (TimelineSemaphore semaphore = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Fence done = Fence.at(semaphore, 1)) {
            device.queueFor(QueueAffinity.ANY).copy(null, done, source, 0, copy, 0, view.byteLength(), 0);
            done.await();
        } catch (RuntimeException e) {
            copy.release();
            throw e;
        }
        return owning(copy, view.byteLength());
    }

    private static HostBytes owning(Buffer buffer, long length) {
        try {
            return new HostBytes(buffer, length);
        } catch (RuntimeException e) {
            buffer.release();
            throw e;
        }
    }

    /**
     * Returns the bytes.
     *
     * @return as many as the elements take, valid until this is closed
     */
    public MemorySegment segment() {
        return bytes;
    }

    @Override
    public void close() {
        buffer.release();
    }
}
