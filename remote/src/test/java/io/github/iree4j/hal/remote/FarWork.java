package io.github.iree4j.hal.remote;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Work of a client on devices of other nodes, over a loopback driven by the test. */
final class FarWork {
    private final RemoteNode client;
    private final List<AutoCloseable> opened = new ArrayList<>();

    FarWork(RemoteNode client) {
        this.client = client;
    }

    /** Closes something at the end. */
    <T extends AutoCloseable> T opened(T object) {
        opened.add(object);
        return object;
    }

    /** Opens the device of a node; 0 queues for as many as the device has. */
    Device device(int node, int queues) {
        RemoteSession session = client.session(node);
        DeviceOptions options = DeviceOptions.builder()
                .queueCount(queues)
                .schedulingDomain(client.domain())
                .build();
        return opened(session.openDevice(session.devices().getFirst().id(), options));
    }

    TimelineSemaphore semaphore() {
        return opened(TimelineSemaphore.create(0));
    }

    Buffer buffer(Device device) {
        BufferParams params = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
        return opened(device.allocator().allocate(params, 64));
    }

    /** Forgets the buffers; the devices free the memory. */
    void forgetBuffers() {
        opened.removeIf(Buffer.class::isInstance);
    }

    /** Fills a buffer after a semaphore has reached 1, if any; the result reaches 1 then. */
    TimelineSemaphore fill(DeviceQueue queue, @Nullable TimelineSemaphore after) {
        TimelineSemaphore done = semaphore();
        try (Fence wait = after == null ? null : Fence.at(after, 1);
                Fence signal = Fence.at(done, 1)) {
            queue.fill(wait, signal, buffer(queue.device()), 0, 64, 1, 1, 0);
        }
        return done;
    }

    /** Closes everything, then the nodes. */
    void close(Loopback loopback, TestNodes nodes) throws Exception {
        loopback.start(); // devices wait for their work
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
        nodes.close();
        loopback.stop();
    }
}
