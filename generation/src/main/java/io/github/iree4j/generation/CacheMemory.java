package io.github.iree4j.generation;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.List;

/**
 * The cache arguments of a program in the memory of its devices; zero at first, and overwritten by the program. Not
 * thread-safe.
 */
final class CacheMemory implements PageMover, AutoCloseable {
    private static final BufferParams HOST =
            new BufferParams(MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE, BufferUsage.TRANSFER);

    private final List<ModelInterface.Cache> caches;
    private final List<Device> devices = new ArrayList<>();
    private final List<BufferView> views = new ArrayList<>();
    private final List<Buffer> host = new ArrayList<>(); // of each cache

    /**
     * Allocates and zeroes all pages.
     *
     * @param hostPages number of pages in the memory of the host
     * @throws IreeException RESOURCE_EXHAUSTED when a device has not enough memory
     */
    CacheMemory(ModelInterface model, int pages, int hostPages) {
        this.caches = model.caches();
        List<Device> placed = model.program().devices();
        try {
            for (int i = 0; i < caches.size(); i++) {
                Device device = placed.get(Math.min(i, placed.size() - 1)); // one cache per device of a pipeline
                devices.add(device);
                long bytes = Math.multiplyExact(caches.get(i).pageBytes(), pages);
                Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT.withConsumer(model.name()), bytes);
                views.add(BufferView.adopt(
                        buffer,
                        Shape.of(pages, caches.get(i).elements()),
                        caches.get(i).elementType(),
                        BufferView.ENCODING_DENSE_ROW_MAJOR));
                zero(i, 0, bytes);
                if (hostPages > 0) {
                    host.add(device.allocator()
                            .allocate(
                                    HOST.withConsumer(model.name()),
                                    Math.multiplyExact(caches.get(i).pageBytes(), hostPages)));
                }
            }
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** Returns the arguments in order; never closed by the receiver. */
    List<BufferView> arguments() {
        return views;
    }

    /** Zeroes a page, which may hold infinities: a masked value times zero must be zero. Waits for the device. */
    void scrub(int page) {
        for (int i = 0; i < views.size(); i++) {
            long bytes = caches.get(i).pageBytes();
            zero(i, page * bytes, bytes);
        }
    }

    @Override
    public void toHost(int page, int slot) {
        for (int i = 0; i < views.size(); i++) {
            long bytes = caches.get(i).pageBytes();
            copy(i, views.get(i).buffer(), page * bytes, host.get(i), (slot - 1) * bytes, bytes);
        }
    }

    @Override
    public void toCache(int slot, int page) {
        for (int i = 0; i < views.size(); i++) {
            long bytes = caches.get(i).pageBytes();
            copy(i, host.get(i), (slot - 1) * bytes, views.get(i).buffer(), page * bytes, bytes);
        }
    }

    private void copy(int index, Buffer source, long from, Buffer target, long to, long bytes) {
        TimelineSemaphore timeline = TimelineSemaphore.create(0);
        try (Fence done = Fence.adopt(timeline, 1)) {
            devices.get(index).queue(0).copy(null, done, source, from, target, to, bytes, 0);
            done.await();
        }
    }

    private void zero(int index, long offset, long bytes) {
        TimelineSemaphore timeline = TimelineSemaphore.create(0);
        try (Fence done = Fence.adopt(timeline, 1)) {
            devices.get(index).queue(0).fill(null, done, views.get(index).buffer(), offset, bytes, 0, 1, 0);
            done.await();
        }
    }

    @Override
    public void close() {
        views.forEach(BufferView::close);
        views.clear();
        host.forEach(Buffer::release);
        host.clear();
    }
}
