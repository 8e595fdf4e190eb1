package io.github.iree4j.hal.local;

import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Allocator;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.HostedDevice;
import io.github.iree4j.hal.QueueAffinity;
import io.github.iree4j.hal.QueueHardware;
import io.github.iree4j.hal.QueueScheduler;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.ExecutableLoader;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The CPU as a device; or, for another kind of device, its memory, code and operations. */
final class LocalDevice implements HostedDevice {
    /** Whether freed memory is overwritten, so that tests see who uses it: {@code -Diree4j.memory.poison=true}. */
    private static final boolean POISON = Boolean.getBoolean("iree4j.memory.poison");

    private final DeviceInfo info;
    private final LocalQueue[] queues;
    private final HostMemory memory;
    private final LocalAllocator allocator;
    private final Guests guests;
    private final Device facade;
    private final Loaders loaders;
    private final SchedulingDomain domain;
    private final Set<LocalChannel> channels = ConcurrentHashMap.newKeySet(); // that are not closed
    private volatile @Nullable IreeException lost; // why nothing runs here any more
    private volatile boolean closed;

    LocalDevice(DeviceInfo info, DeviceOptions options) {
        this(info, options, null, null);
    }

    /** The inside of another kind of device, whose queues run on other hardware. */
    LocalDevice(DeviceInfo info, DeviceOptions options, @Nullable Device facade, @Nullable QueueHardware hardware) {
        this.info = info;
        this.domain = options.schedulingDomain();
        this.facade = facade == null ? this : facade;
        this.memory = new HostMemory(
                options.memoryLimit() == 0 ? HostMemory.available() : options.memoryLimit(),
                domain.tracker(),
                options.memoryQuotas(),
                POISON);
        this.allocator = new LocalAllocator(this, memory);
        this.guests = new Guests(0, 1);
        this.loaders = new Loaders(options.loaders());
        this.queues = new LocalQueue[options.queueCount()];
        for (int i = 0; i < queues.length; i++) {
            queues[i] = new LocalQueue(this, i, hardware == null ? inline(options) : on(hardware, i, options));
        }
    }

    HostMemory memory() {
        return memory;
    }

    Guests guests() {
        return guests;
    }

    /** The device that users see. */
    Device facade() {
        return facade;
    }

    /** A queue whose operations run on the thread that submits them, or resolves the last of their waits. */
    private QueueScheduler inline(DeviceOptions options) {
        InlineBackend backend = new InlineBackend();
        QueueScheduler scheduler = QueueScheduler.create(options.schedulingDomain(), this, this, backend);
        backend.connect(scheduler);
        return scheduler;
    }

    private QueueScheduler on(QueueHardware hardware, int queue, DeviceOptions options) {
        QueueScheduler scheduler = QueueScheduler.create(
                options.schedulingDomain(), facade, hardware.directGroup(), hardware.backend(queue));
        hardware.connect(queue, scheduler);
        return scheduler;
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
    public Channel createChannel(long affinity, ChannelParams params) {
        checkOpen();
        QueueAffinity.normalize(affinity, queues.length);
        return adopt(new LocalChannel(this, ChannelRegistry.join(domain, params)));
    }

    /** Notes a channel, which fails when the device is closed before it. */
    LocalChannel adopt(LocalChannel channel) {
        channels.add(channel);
        IreeException cause = lost;
        if (closed || cause != null) {
            channel.fail(cause == null ? aborted() : cause);
        }
        return channel;
    }

    void forget(LocalChannel channel) {
        channels.remove(channel);
    }

    private IreeException aborted() {
        return new IreeException(StatusCode.ABORTED, "device '" + info.id() + "' of a channel was closed");
    }

    @Override
    public TimelineSemaphore createSemaphore(long initialValue, long flags) {
        checkOpen();
        return TimelineSemaphore.create(
                SemaphoreOptions.DEFAULT.withInitialValue(initialValue).withScope(scope(flags)));
    }

    /** The narrowest scope for the declared use. The host sees all of them, so its interrupts widen nothing. */
    private static SemaphoreScope scope(long flags) {
        if ((flags & (SEMAPHORE_EXPORTABLE | SEMAPHORE_EXPORTABLE_TIMEPOINTS)) != 0) {
            return SemaphoreScope.SYSTEM_WIDE;
        }
        return (flags & SEMAPHORE_DEVICE_LOCAL) != 0 ? SemaphoreScope.DEVICE_LOCAL : SemaphoreScope.PROCESS_LOCAL;
    }

    @Override
    public SchedulingDomain schedulingDomain() {
        return domain;
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
    public void lost(IreeException cause) {
        lost = cause;
        for (LocalQueue queue : queues) {
            queue.scheduler().lost(cause);
        }
        channels.forEach(channel -> channel.fail(cause));
    }

    @Override
    public void close() {
        closed = true;
        for (LocalQueue queue : queues) {
            queue.scheduler().close();
        }
        channels.forEach(channel -> channel.fail(aborted()));
        guests.close();
        memory.close();
    }

    @Override
    public String toString() {
        return "device '" + info.id() + "'";
    }
}
