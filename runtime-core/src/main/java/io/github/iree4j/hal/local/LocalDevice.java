package io.github.iree4j.hal.local;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.HandoffThread;
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
import io.github.iree4j.hal.schedule.HostedDevice;
import io.github.iree4j.hal.schedule.QueueBackend;
import io.github.iree4j.hal.schedule.QueueHardware;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.task.ProcessExecutor;
import io.github.iree4j.task.TaskProcess;
import io.github.iree4j.task.Topology;
import io.github.iree4j.task.TopologyOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The CPU as a device; or, for another kind of device, its memory, code and operations. */
final class LocalDevice implements HostedDevice, ChannelHost {
    /** Whether freed memory is overwritten, so that tests detect use after free: {@code -Diree4j.memory.poison=true}. */
    private static final boolean POISON = Boolean.getBoolean("iree4j.memory.poison");

    /** Maximum number of waiting threads that may run commands along with the workers. */
    private static final int CALLERS = 32;

    /** How long close() waits for kernels to return. */
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(10);

    private static final int CLOSE_LOOK_NANOS = 100_000;

    private final DeviceInfo info;
    private final LocalQueue[] queues;
    private final Executor wakes; // resumes operations released by a signal, where that takes long
    private final HostMemory memory;
    private final LocalAllocator allocator;
    private final @Nullable ProcessExecutor executor; // null when the queues run on other hardware
    private final boolean ownsExecutor;
    private final int workers;
    private final AtomicReferenceArray<@Nullable CommandRunner> runners; // by drainer number
    private final List<TaskQueue> taskQueues = new ArrayList<>();
    private final CallerRunners guests;
    private final @Nullable WaitHelper helper;
    private final Device facade;
    private final Loaders loaders;
    private final SchedulingDomain domain;
    private final int semaphoreHistory;
    private final Set<GroupChannel> channels = ConcurrentHashMap.newKeySet(); // open ones
    private volatile @Nullable IreeException lost; // the cause of the loss
    private final AtomicBoolean quiet = new AtomicBoolean(); // true once nothing runs any more
    private volatile boolean closed;

    LocalDevice(DeviceInfo info, DeviceOptions options) {
        this(info, options, null, null);
    }

    /** Creates the internals of another kind of device, whose queues run on other hardware. */
    LocalDevice(DeviceInfo info, DeviceOptions options, @Nullable Device facade, @Nullable QueueHardware hardware) {
        this.info = info;
        this.domain = options.schedulingDomain();
        this.facade = facade == null ? this : facade;
        this.wakes = hardware == null ? new HandoffThread("iree4j-wake " + info.id()) : QueueBackend.SAME_THREAD;
        this.memory = new HostMemory(this.facade, options, this::isBusy, wakes, POISON);
        this.semaphoreHistory = options.semaphoreHistory();
        this.allocator = new LocalAllocator(this, memory);
        boolean own = hardware == null && options.executor() == null;
        this.executor = hardware != null ? null : own ? executor(info, options) : options.executor();
        this.ownsExecutor = own;
        int drainers = executor == null ? 0 : executor.contexts();
        this.workers = executor == null ? 1 : executor.workers();
        this.runners = new AtomicReferenceArray<>(drainers);
        this.guests = new CallerRunners(drainers, workers);
        this.helper = executor == null ? null : new Helper();
        this.loaders = new Loaders(options.loaders(), options.executableFormats());
        this.queues = new LocalQueue[Math.max(1, options.queueCount())];
        for (int i = 0; i < queues.length; i++) {
            queues[i] = new LocalQueue(this, i, hardware == null ? onWorkers(i, options) : on(hardware, i, options));
            queues[i].scheduler().whenIdle(memory.pools()::idle);
        }
    }

    /** Whether any operation is in flight. Only called when there are queues. */
    private boolean isBusy() {
        for (LocalQueue queue : queues) {
            if (!queue.scheduler().isIdle()) {
                return true;
            }
        }
        return false;
    }

    HostMemory memory() {
        return memory;
    }

    CallerRunners guests() {
        return guests;
    }

    /** The device that users see. */
    Device facade() {
        return facade;
    }

    private static ProcessExecutor executor(DeviceInfo info, DeviceOptions options) {
        int workers = options.workers();
        if (workers == 0) {
            workers = Topology.detect(TopologyOptions.DEFAULTS).groups().size();
        }
        return ProcessExecutor.builder(workers)
                .name("iree4j-" + info.id())
                .callers(CALLERS)
                .closeLimit(CLOSE_LIMIT)
                .build();
    }

    /** A queue whose operations run on workers, or on the thread that submits them when they are small. */
    private QueueScheduler onWorkers(int queue, DeviceOptions options) {
        TaskQueue backend = new TaskQueue(
                info.id() + " queue " + queue,
                Objects.requireNonNull(executor),
                runners,
                guests,
                wakes,
                options.inlineNanos());
        QueueScheduler scheduler = QueueScheduler.create(options.schedulingDomain(), this, this, backend);
        backend.connect(scheduler);
        taskQueues.add(backend);
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
        return new RecordedCommandBuffer(LocalCommands.INSTANCE, modes, categories, bindingCapacity);
    }

    @Override
    public Channel createChannel(long affinity, ChannelParams params) {
        checkOpen();
        QueueAffinity.normalize(affinity, queues.length);
        return ChannelRegistry.create(domain, this, params);
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
        return new IreeException(StatusCode.ABORTED, "device '" + info.id() + "' of a channel was closed");
    }

    @Override
    public TimelineSemaphore createSemaphore(long initialValue, long flags) {
        checkOpen();
        return TimelineSemaphore.create(SemaphoreOptions.DEFAULT
                .withInitialValue(initialValue)
                .withScope(Device.scopeOf(flags))
                .withHistoryCapacity(semaphoreHistory)
                .withHelper(helper));
    }

    /** Does some of the work of the queues on a thread that waits for one of them. */
    private final class Helper implements WaitHelper {
        @Override
        public Outcome help() {
            Outcome outcome = Outcome.NOTHING;
            for (TaskQueue queue : taskQueues) {
                switch (queue.help()) {
                    case WORKED -> {
                        return Outcome.WORKED;
                    }
                    case BUSY -> outcome = Outcome.BUSY;
                    case NOTHING -> {}
                }
            }
            return outcome;
        }

        @Override
        public void leave() {
            taskQueues.forEach(TaskQueue::helperLeaves);
        }
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
    public @Nullable String memoryObstacle(Device other) {
        return other.isMemoryOfHost() ? null : "the host does not see the memory of device '" + other.id() + "'";
    }

    @Override
    public OptionalLong queryI64(String category, String key) {
        return switch (category) {
            case "hal.device.id" -> flag(LocalDriverProvider.matches(key));
            case "hal.executable.format" -> flag(loaders.find(key) != null);
            case "hal.device" -> key.equals("concurrency") ? OptionalLong.of(queues.length) : OptionalLong.empty();
            case "hal.dispatch" -> key.equals("concurrency") ? OptionalLong.of(workers) : OptionalLong.empty();
            case "hal.cpu" -> loaders.cpuFeature(key);
            default -> OptionalLong.empty();
        };
    }

    private static OptionalLong flag(boolean answer) {
        return OptionalLong.of(answer ? 1 : 0);
    }

    @Override
    public @Nullable IreeException failure() {
        IreeException cause = lost;
        return cause != null || !closed
                ? cause
                : new IreeException(StatusCode.FAILED_PRECONDITION, "device '" + info.id() + "' is closed");
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
        IreeException cause = new IreeException(
                StatusCode.ABORTED, "device '" + info.id() + "' was closed while its work was in flight");
        taskQueues.forEach(queue -> queue.close(cause));
        channels.forEach(channel -> channel.fail(aborted()));
        if (executor != null && executor.isWorkerThread()) {
            // The calling thread would wait for itself.
            CallThreads.start("iree4j-close " + info.id(), this::closeWhenQuiet);
        } else {
            closeWhenQuiet();
        }
    }

    /** Waits for running drains, and frees what they use. */
    private void closeWhenQuiet() {
        long deadline = System.nanoTime() + CLOSE_LIMIT.toNanos();
        if (executor != null && ownsExecutor) {
            executor.close();
        } else {
            awaitProcesses(deadline);
        }
        if (!guests.awaitReturned(deadline)) {
            throw notClosed("a thread that submitted work");
        }
        if (quiet.compareAndSet(false, true)) {
            guests.close();
            for (int i = 0; i < runners.length(); i++) {
                CommandRunner runner = runners.getAcquire(i);
                if (runner != null) {
                    runner.worker().close();
                }
            }
            memory.close();
        }
    }

    private IreeException notClosed(String what) {
        return new IreeException(
                StatusCode.DEADLINE_EXCEEDED,
                "device '%s' is not closed after %s: %s is in a kernel that does not return"
                        .formatted(info.id(), CLOSE_LIMIT, what));
    }

    private void awaitProcesses(long deadline) {
        for (TaskQueue queue : taskQueues) {
            for (TaskProcess process : queue.processes()) {
                while (!process.isReleased()) {
                    if (System.nanoTime() - deadline > 0) {
                        throw notClosed(process.toString());
                    }
                    LockSupport.parkNanos(this, CLOSE_LOOK_NANOS);
                }
            }
        }
    }

    @Override
    public String toString() {
        return "device '" + info.id() + "'";
    }
}
