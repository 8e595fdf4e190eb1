package io.github.iree4j.hal.local;

import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.async.WaitHelper;
import io.github.iree4j.hal.Allocator;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.QueueAffinity;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.collective.ChannelHost;
import io.github.iree4j.hal.collective.ChannelRegistry;
import io.github.iree4j.hal.collective.CollectiveBackend;
import io.github.iree4j.hal.collective.GroupChannel;
import io.github.iree4j.hal.loader.ExecutableLoader;
import io.github.iree4j.hal.loader.Loaders;
import io.github.iree4j.hal.record.RecordedCommandBuffer;
import io.github.iree4j.hal.schedule.DeviceQueues;
import io.github.iree4j.hal.schedule.QueueBackend;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.hal.spi.ChannelOptions;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.DeviceLostException;
import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A device with host memory and {@link HostOperation}s. The kind of device decides who runs the operations, and adds
 * the queues before use. Safe from any thread.
 */
public abstract class HostDevice implements Device, ChannelHost {
    /** Whether freed memory is overwritten, so that tests detect use after free: {@code -Diree4j.memory.poison=true}. */
    private static final boolean POISON = Boolean.getBoolean("iree4j.memory.poison");

    /** Limit of the wait for returning kernels in close(). */
    protected static final Duration CLOSE_LIMIT = Duration.ofSeconds(10);

    private final DeviceInfo info;
    private final DeviceQueues<LocalQueue> queues;
    private final HostMemory memory;
    private final LocalAllocator allocator;
    private final CallerRunners callerRunners;
    private final Loaders loaders;
    private final SchedulingDomain domain;
    private SemaphoreOptions semaphores; // of the last semaphore, since most are alike; written without order
    private final ChannelParams channel; // defaults for channels that leave the parameters to the device
    private final Set<GroupChannel> channels = ConcurrentHashMap.newKeySet(); // the open channels
    private final AtomicBoolean quiet = new AtomicBoolean(); // true once all work has ended
    private volatile @Nullable IreeException lost; // the cause of the loss
    private volatile boolean closed;

    /**
     * Creates a device without queues.
     *
     * @param info the description
     * @param options the options, including the number of queues; at least 1 queue is made
     * @param wakes resumes operations released by a signal, where this takes long
     * @param callerRunners command runners of threads other than workers
     */
    HostDevice(DeviceInfo info, DeviceOptions options, Executor wakes, CallerRunners callerRunners) {
        this.info = info;
        this.queues = new DeviceQueues<>(info, Math.max(1, options.queueCount()));
        this.domain = options.schedulingDomain();
        this.memory = new HostMemory(this, options, queues::isBusy, wakes, POISON);
        this.semaphores = SemaphoreOptions.DEFAULTS.withHistoryCapacity(options.semaphoreHistory());
        this.channel = options.driver(ChannelOptions.DEFAULTS).channel();
        this.allocator = new LocalAllocator(this, memory);
        this.callerRunners = callerRunners;
        this.loaders = new Loaders(options.driver(CpuOptions.DEFAULTS).loaders(), options.executableFormats());
    }

    /**
     * Creates a device without queues for operations run by threads other than workers.
     *
     * @param info the description
     * @param options the options, including the number of queues; at least 1 queue is made
     */
    protected HostDevice(DeviceInfo info, DeviceOptions options) {
        this(info, options, QueueBackend.SAME_THREAD, new CallerRunners(0, 1));
    }

    /**
     * Adds the next queue.
     *
     * @param queue the index
     * @param scheduler the scheduler
     */
    protected final void addQueue(int queue, QueueScheduler scheduler) {
        queues.add(new LocalQueue(this, queue, scheduler));
        scheduler.whenIdle(memory.pools()::idle);
    }

    /** Returns the number of workgroups running at once. */
    protected abstract int concurrency();

    /** Sets the helper running work of the queues on threads that wait for a queue. Called during construction. */
    final void helpWaiters(WaitHelper helper) {
        semaphores = semaphores.withHelper(helper);
    }

    /**
     * Stops the execution of operations, waits for the end, and calls {@link #free}; on another thread where the
     * calling thread would wait for itself. The schedulers were closed before.
     *
     * @param cause the failure of operations that have not run
     */
    protected abstract void stop(IreeException cause);

    HostMemory memory() {
        return memory;
    }

    CallerRunners callerRunners() {
        return callerRunners;
    }

    /**
     * Refuses work once the device is closed.
     *
     * @throws IreeException {@link QueueScheduler#closed}; the loss of a device that was lost before
     */
    void checkOpen() {
        if (closed) {
            throw failure().orElseThrow();
        }
    }

    @Override
    public DeviceInfo info() {
        return info;
    }

    @Override
    public int queueCount() {
        return queues.count();
    }

    @Override
    public DeviceQueue queue(int index) {
        return queues.get(index);
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
    public List<String> executableFormats() {
        return loaders.formats();
    }

    @Override
    public String compileFlags(String format) {
        return loaders.compileFlags(format);
    }

    @Override
    public CommandBuffer createCommandBuffer(int modes, int categories, long affinity, int bindingCapacity) {
        checkOpen();
        QueueAffinity.normalize(affinity, queues.count());
        return new RecordedCommandBuffer(LocalCommands.INSTANCE, modes, categories, bindingCapacity);
    }

    @Override
    public Channel createChannel(long affinity, ChannelParams params) {
        checkOpen();
        QueueAffinity.normalize(affinity, queues.count());
        return ChannelRegistry.create(domain, this, params.or(channel));
    }

    @Override
    public CollectiveBackend collectives() {
        return CollectiveWork.Backend.INSTANCE;
    }

    @Override
    public GroupChannel adopt(GroupChannel channel) {
        channels.add(channel);
        IreeException cause = lost;
        if (closed || cause != null) {
            channel.fail(cause == null ? aborted() : cause);
        }
        return channel;
    }

    @Override
    public void forget(GroupChannel channel) {
        channels.remove(channel);
    }

    private IreeException aborted() {
        return IreeException.of(StatusCode.ABORTED, "device '" + info.id() + "' of a channel was closed");
    }

    @Override
    public TimelineSemaphore createSemaphore(long initialValue, long flags) {
        checkOpen();
        SemaphoreOptions last = semaphores;
        SemaphoreOptions wanted = last.withInitialValue(initialValue).withScope(Device.scopeOf(flags));
        if (!wanted.equals(last)) {
            semaphores = wanted;
        }
        return TimelineSemaphore.create(wanted);
    }

    @Override
    public SchedulingDomain schedulingDomain() {
        return domain;
    }

    @Override
    public boolean isMemoryOfHost() {
        return true;
    }

    @Override
    public Optional<String> memoryObstacle(Device other) {
        return other.isMemoryOfHost()
                ? Optional.empty()
                : Optional.of("the host does not see the memory of device '" + other.id() + "'");
    }

    @Override
    public OptionalLong queryI64(String category, String key) {
        return switch (category) {
            case "hal.device.id" -> flag(LocalDriverProvider.matches(key));
            case "hal.executable.format" -> flag(loaders.find(key) != null);
            case "hal.device" -> key.equals("concurrency") ? OptionalLong.of(queues.count()) : OptionalLong.empty();
            case "hal.dispatch" -> key.equals("concurrency") ? OptionalLong.of(concurrency()) : OptionalLong.empty();
            case "hal.cpu" -> loaders.cpuFeature(key);
            default -> OptionalLong.empty();
        };
    }

    private static OptionalLong flag(boolean answer) {
        return OptionalLong.of(answer ? 1 : 0);
    }

    @Override
    public Optional<IreeException> failure() {
        boolean isClosed = closed; // first: an earlier loss takes precedence
        IreeException cause = lost;
        return cause != null || !isClosed ? Optional.ofNullable(cause) : Optional.of(QueueScheduler.closed(info.id()));
    }

    /**
     * Reports the loss of the device. Pending operations, later submissions, and every collective group with a
     * participant on this device fail with {@link DeviceLostException}. Issued operations are completed by their
     * executors.
     *
     * @param cause the cause
     */
    public void lose(IreeException cause) {
        IreeException loss = DeviceLostException.by(info.id(), cause);
        lost = loss;
        for (LocalQueue queue : queues) {
            queue.scheduler().lost(loss);
        }
        channels.forEach(channel -> channel.fail(loss));
    }

    /** Fails pending and queued operations with ABORTED, and refuses new work. Idempotent. */
    @Override
    public void close() {
        closed = true;
        for (LocalQueue queue : queues) {
            queue.scheduler().close();
        }
        channels.forEach(channel -> channel.fail(aborted()));
        stop(IreeException.of(
                StatusCode.ABORTED, "device '" + info.id() + "' was closed while its work was in flight"));
    }

    /**
     * Waits until all threads other than workers have finished running commands, and frees the memory. Idempotent.
     *
     * @param deadline the end of the wait, {@link System#nanoTime}
     * @throws IreeException DEADLINE_EXCEEDED when such a thread does not return in time
     */
    protected final void free(long deadline) {
        if (!callerRunners.awaitReturned(deadline)) {
            throw notClosed("a thread that submitted work");
        }
        if (quiet.compareAndSet(false, true)) {
            freeRunners();
            callerRunners.close();
            memory.close();
        }
    }

    /** Frees the command runners of workers. Called once, when workers no longer run commands. */
    protected void freeRunners() {}

    /** Returns the failure of a close that takes too long. */
    final IreeException notClosed(String what) {
        return IreeException.of(
                StatusCode.DEADLINE_EXCEEDED,
                "device '%s' is not closed after %s: %s is in a kernel that does not return"
                        .formatted(info.id(), DurationText.of(CLOSE_LIMIT), what));
    }

    @Override
    public String toString() {
        return "device '" + info.id() + "'";
    }
}
