package io.github.iree4j.hal.local;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Allocator;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.QueueAffinity;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.ExecutableLoader;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.OptionalLong;

/** The CPU as a device. */
final class LocalDevice implements Device {
    private final DeviceInfo info;
    private final LocalQueue[] queues;
    private final HostMemory memory;
    private final LocalAllocator allocator;
    private final Workers workers;
    private final PendingOperations pending;
    private final Loaders loaders;
    private volatile boolean closed;

    LocalDevice(DeviceInfo info, DeviceOptions options) {
        this.info = info;
        this.memory = new HostMemory(options.memoryLimit() == 0 ? HostMemory.available() : options.memoryLimit());
        this.allocator = new LocalAllocator(this, memory);
        int processors = Math.min(64, Runtime.getRuntime().availableProcessors());
        this.workers = new Workers(options.workers() == 0 ? processors : options.workers());
        this.pending = new PendingOperations(info.id());
        this.loaders = new Loaders(options.loaders());
        this.queues = new LocalQueue[options.queueCount()];
        for (int i = 0; i < queues.length; i++) {
            queues[i] = new LocalQueue(this, i);
        }
    }

    HostMemory memory() {
        return memory;
    }

    Workers workers() {
        return workers;
    }

    PendingOperations pending() {
        return pending;
    }

    /**
     * Refuses work once the device is closed.
     *
     * @throws IreeException FAILED_PRECONDITION
     */
    void checkOpen() {
        if (closed) {
            throw new IreeException(StatusCode.FAILED_PRECONDITION, "device '" + info.id() + "' is closed");
        }
    }

    @Override
    public DeviceInfo info() {
        return info;
    }

    @Override
    public int queueCount() {
        return queues.length;
    }

    @Override
    public DeviceQueue queue(int index) {
        if (index < 0 || index >= queues.length) {
            throw new IreeException(
                    StatusCode.OUT_OF_RANGE,
                    "queue %d of device '%s' with %d queues does not exist".formatted(index, info.id(), queues.length));
        }
        return queues[index];
    }

    @Override
    public Allocator allocator() {
        return allocator;
    }

    @Override
    public Executable createExecutable(ExecutableParams params) {
        checkOpen();
        ExecutableLoader loader = loaders.find(params.format());
        if (loader == null) {
            throw loaders.unsupported(info.id(), params.format());
        }
        return new LocalExecutable(
                params.format(),
                loader.load(
                        params.format(),
                        params.data(),
                        params.owner(),
                        params.constants().clone()));
    }

    @Override
    public CommandBuffer createCommandBuffer(int modes, int categories, long affinity, int bindingCapacity) {
        checkOpen();
        QueueAffinity.normalize(affinity, queues.length);
        return new LocalCommandBuffer(modes, categories, bindingCapacity);
    }

    @Override
    public TimelineSemaphore createSemaphore(long initialValue, long flags) {
        checkOpen();
        return TimelineSemaphore.create(initialValue);
    }

    @Override
    public OptionalLong queryI64(String category, String key) {
        return switch (category) {
            case "hal.device.id" -> flag(LocalDriverProvider.matches(key));
            case "hal.executable.format" -> flag(loaders.find(key) != null);
            case "hal.device" -> key.equals("concurrency") ? OptionalLong.of(queues.length) : OptionalLong.empty();
            // One: a dispatch runs on a single thread, however many run at once.
            case "hal.dispatch" -> key.equals("concurrency") ? OptionalLong.of(1) : OptionalLong.empty();
            case "hal.cpu" -> loaders.cpuFeature(key);
            default -> OptionalLong.empty();
        };
    }

    private static OptionalLong flag(boolean answer) {
        return OptionalLong.of(answer ? 1 : 0);
    }

    @Override
    public void close() {
        closed = true;
        pending.close();
        workers.close();
        memory.close();
    }

    @Override
    public String toString() {
        return "device '" + info.id() + "'";
    }
}
