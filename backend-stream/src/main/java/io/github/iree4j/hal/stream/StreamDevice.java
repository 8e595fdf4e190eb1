package io.github.iree4j.hal.stream;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.HandoffThread;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.async.WaitHelper;
import io.github.iree4j.async.io.Proactor;
import io.github.iree4j.hal.Allocator;
import io.github.iree4j.hal.Channel;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceInfo;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DriverCounters;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.QueueAffinity;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.schedule.DeviceQueues;
import io.github.iree4j.hal.schedule.QueueScheduler;
import io.github.iree4j.hal.spi.ChannelOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.DeviceState.Loss;
import io.github.iree4j.lifetime.UseGuard;
import io.github.iree4j.status.DeviceLostException;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A device with streams in the hardware: everything except the driver-specific part, see {@link StreamDriver}. Safe
 * from any thread.
 */
public final class StreamDevice implements Device {
    /** Whether freed memory is overwritten, so that tests detect use after free: {@code -Diree4j.memory.poison=true}. */
    private static final boolean POISON = Boolean.getBoolean("iree4j.memory.poison");

    private static final Logger LOG = LoggerFactory.getLogger(StreamDevice.class);

    /** How long {@link #close} waits for work of the hardware. */
    public static final Duration CLOSE_LIMIT = Duration.ofSeconds(10);

    private final DeviceInfo info;
    private final DeviceOptions options;
    private final Duration closeLimit;
    private final StreamDriver driver;
    private final DeviceProfile profile;
    private final SchedulingDomain domain;
    private final List<HardwareQueue> hardware = new ArrayList<>();
    private final DeviceQueues<StreamQueue> queues;
    private final StreamMemory memory;
    private final StreamAllocator allocator;
    private final HostImports imports;
    private final StreamEncoder encoder;
    private final CompletionWaiter waiter;
    private final Proactor proactor;
    private final HandoffThread issuerThread;
    private final Executor issuer = this::issue;

    private final Set<PointExport> exports = ConcurrentHashMap.newKeySet();
    final StreamChannels channels = new StreamChannels(this);
    private final DeviceState state = new DeviceState();
    private final AtomicBoolean lossReported = new AtomicBoolean(); // in the log, before the loss becomes visible

    /*
     * STREAM-4: the native objects of queues are freed once, after the last operation of a closed device. The freeing
     * thread ends the last operation, or closes the device later. Each operation on a stream is a use of `work`;
     * closing `work` runs workOver() after the last use. See DriverUses for the submissions without an operation.
     */
    private final UseGuard work = UseGuard.of(this::toString, this::workOver);
    private final WaitHelper helper = new CompletionHelper(work, hardware, this::lookFailed);
    private final UseGuard calls =
            UseGuard.of(this::toString, this::driverUnused); // calls by threads holding nothing else
    private final DriverUses driverUses;

    /*
     * STREAM-6: a closed device with work incomplete after the limit is abandoned. The device's signals and axes fail,
     * so that no waiter hangs. Abandoning frees nothing: work on a failed axis is in flight until the completion is
     * reported. Memory, native objects and the waiter stay until freed by workOver().
     */

    /**
     * Creates a device.
     *
     * @param info description of the device
     * @param options limits, and the number of queues; 0 for a queue per lane
     * @param driver owned by the device, unless this constructor throws
     * @param closeLimit how long {@link #close} waits for work of the hardware
     */
    public StreamDevice(DeviceInfo info, DeviceOptions options, StreamDriver driver, Duration closeLimit) {
        this.info = info;
        this.closeLimit = closeLimit;
        this.options = options;
        this.driver = driver;
        this.driverUses = new DriverUses(info.id(), hardware, this::freeDriver);
        this.domain = options.schedulingDomain();
        List<Lane> lanes = driver.lanes();
        int count = options.queueCount() == 0 ? lanes.size() : options.queueCount();
        this.queues = new DeviceQueues<>(info, count);
        this.profile = new DeviceProfile(info, count, driver, options.executableFormats());
        this.issuerThread = new HandoffThread("iree4j-issue " + info.id());
        ArrayDeque<Runnable> undo = new ArrayDeque<>(); // in reverse order, after a failed construction
        try {
            this.memory = new StreamMemory(this::id, driver, options, queues::isBusy, issuer, POISON, calls);
            undo.push(() -> memory.close(() -> {}));
            this.allocator = new StreamAllocator(this, memory);
            this.imports = new HostImports(this, memory);
            this.encoder = driver.encoder(memory);
            undo.push(encoder::close);
            int used = Math.min(count, lanes.size());
            // STREAM-1; of a single queue, only queues of other devices can use reserved tickets
            boolean reserves = count == used && (used > 1 || driver.canWaitForLanesOf(driver));
            for (int i = 0; i < used; i++) {
                HardwareQueue queue = new HardwareQueue(driver, calls, lanes.get(i), reserves);
                hardware.add(queue);
            }
            this.waiter = new CompletionWaiter(this, driver, hardware);
            undo.push(waiter::free);
            for (int i = 0; i < count; i++) {
                StreamQueue queue = makeQueue(hardware.get(i % used), i);
                undo.push(queue.scheduler()::close);
                queues.add(queue);
            }
            this.proactor = Proactor.start("iree4j-" + info.id(), waiter);
        } catch (RuntimeException | Error e) {
            for (Runnable each : undo) {
                try {
                    each.run();
                } catch (RuntimeException | Error f) {
                    e.addSuppressed(f);
                }
            }
            throw e;
        }
        proactor.wake(); // the owner thread starts to wait for the hardware
    }

    private StreamQueue makeQueue(HardwareQueue on, int index) {
        HardwareStream stream = new HardwareStream(this, on, index);
        QueueScheduler scheduler = QueueScheduler.create(domain, this, this, stream);
        stream.connect(scheduler);
        scheduler.whenIdle(memory.pools()::idle);
        return new StreamQueue(this, index, stream, scheduler);
    }

    /** Returns the executor that submits operations released by a signal to the driver. */
    Executor issuer() {
        return issuer;
    }

    HostImports imports() {
        return imports;
    }

    StreamMemory memory() {
        return memory;
    }

    StreamEncoder encoder() {
        return encoder;
    }

    /** Returns whether the hardware has work on another queue. */
    boolean isBusyBeside(HardwareQueue own) {
        return hardware.stream().anyMatch(each -> each != own && each.isBusy());
    }

    /** Returns whether work of the hardware may wait for other devices. */
    boolean hasCollectives() {
        return channels.used();
    }

    /** Returns the guard of driver calls by threads that hold nothing else: the driver stays while in use. */
    UseGuard calls() {
        return calls;
    }

    StreamDriver driver() {
        return driver;
    }

    /**
     * Refuses work once the device is closed or lost.
     *
     * @throws IreeException {@link QueueScheduler#closed} when the device is closed; the cause when the device is lost
     */
    void checkOpen() {
        failure().ifPresent(cause -> {
            throw cause;
        });
    }

    /** Returns the failure of a transfer of the host: the reader of a result has not closed the device, and may call again. */
    IreeException ofTransfer(IreeException failure) {
        return failure.code() == StatusCode.FAILED_PRECONDITION && state.isClosed()
                ? IreeException.of(
                        StatusCode.ABORTED, "device '%s' was closed with its memory".formatted(info.id()), failure)
                : failure;
    }

    /**
     * Refuses memory once the device is abandoned, or lost and closed. A lost device, or a closed device with work in
     * flight, still allocates.
     *
     * @throws IreeException the cause of the abandonment or loss
     */
    void checkAllocates() {
        if (state.isClosed()) {
            IreeException cause = state.failure();
            if (cause != null) {
                throw cause;
            }
        }
    }

    /** Counts an operation entering a stream. */
    void enter() {
        work.enter();
    }

    /** Counts the end of an operation on a stream. */
    void exit() {
        work.exit();
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
    public DriverCounters driverCounters() {
        if (!work.tryEnter()) { // closed: the native objects may be freed
            return DriverCounters.NONE;
        }
        try {
            return new DriverCounters(
                    hardware.size(),
                    driver.eventCount(),
                    driver.isLost() ? 0 : driver.heldCount(),
                    driver.graphLaunchCount());
        } finally {
            work.exit();
        }
    }

    @Override
    public Allocator allocator() {
        return allocator;
    }

    @Override
    public Executable createExecutable(ExecutableParams params) {
        checkOpen();
        profile.requireFormat(params.format());
        return driver.load(params);
    }

    @Override
    public CommandBuffer createCommandBuffer(int modes, int categories, long affinity, int bindingCapacity) {
        checkOpen();
        QueueAffinity.normalize(affinity, queues.count());
        return RecordedForms.record(this, modes, categories, bindingCapacity);
    }

    @Override
    public Channel createChannel(long affinity, ChannelParams params) {
        checkOpen();
        QueueAffinity.normalize(affinity, queues.count());
        return channels.create(params.or(options.driver(ChannelOptions.DEFAULTS).channel()));
    }

    @Override
    public String createChannelId() {
        checkOpen();
        return channels.library().createId();
    }

    void watch(WatchedPoint point) {
        waiter.addOfWork(point);
    }

    @Override
    public TimelineSemaphore createSemaphore(long initialValue, long flags) {
        checkOpen();
        return TimelineSemaphore.create(SemaphoreOptions.DEFAULTS
                .withInitialValue(initialValue)
                .withScope(Device.scopeOf(flags))
                .withHistoryCapacity(options.semaphoreHistory())
                .withHelper(driver.isWatchedByWaiters() ? helper : null));
    }

    @Override
    public int exportSemaphore(TimelineSemaphore semaphore) {
        checkOpen();
        return PointExport.create(this, semaphore);
    }

    @Override
    public Cancellation importSemaphore(int descriptor, TimelineSemaphore semaphore, long value) {
        checkOpen();
        return PointImport.create(this, waiter, descriptor, semaphore, value);
    }

    @Override
    public Cancellation importEvent(long event, TimelineSemaphore semaphore, long value) {
        checkOpen();
        return PointImport.ofEvent(this, waiter, event, semaphore, value);
    }

    /** Registers an export; closing the device closes it. */
    void adopt(PointExport export) {
        exports.add(export);
        if (state.isClosed()) {
            export.close();
        }
    }

    void forget(PointExport export) {
        exports.remove(export);
    }

    /** Ends the proactor, from any thread. */
    void endWaiter() {
        proactor.shutdown();
    }

    void wakeWaiter() {
        proactor.wake();
    }

    @Override
    public SchedulingDomain schedulingDomain() {
        return domain;
    }

    @Override
    public boolean isMemoryOfHost() {
        return memory.kinds().device().isMappable();
    }

    @Override
    public boolean canCopyFrom(Device other) {
        return other instanceof StreamDevice giver && driver.canCopyFrom(giver.driver);
    }

    @Override
    public Optional<String> memoryObstacle(Device other) {
        return Optional.ofNullable(HostImports.obstacle(this, other));
    }

    @Override
    public OptionalLong queryI64(String category, String key) {
        return profile.queryI64(category, key);
    }

    @Override
    public String compileFlags(String format) {
        return driver.compileFlags(format);
    }

    /** Returns the driver's formats allowed by the options. */
    @Override
    public List<String> executableFormats() {
        return profile.formats();
    }

    // ---- Shutdown.

    @Override
    public Optional<IreeException> failure() {
        boolean closed = state.isClosed(); // first: an earlier loss takes precedence
        IreeException cause = state.failure();
        return cause != null || !closed ? Optional.ofNullable(cause) : Optional.of(QueueScheduler.closed(info.id()));
    }

    @Override
    public Optional<IreeException> draining() {
        return Optional.ofNullable(driver.draining());
    }

    /**
     * Reports the loss of the device: pending operations and later submissions fail with {@link DeviceLostException}.
     * Work of the hardware fails so once it completes.
     *
     * @param cause the cause
     */
    void lost(IreeException cause) {
        IreeException loss = DeviceLostException.by(id(), cause);
        if (state.lose(loss) == Loss.NONE) {
            stopStreams(loss);
        }
    }

    private void stopStreams(IreeException loss) {
        for (StreamQueue queue : queues) {
            queue.scheduler().lost(loss);
        }
        for (StreamQueue queue : queues) {
            queue.stream().stop(loss, true);
        }
        channels.fail(loss);
    }

    /** Handles a loss reported by the driver: the hardware no longer runs anything. Called on a thread that holds no locks. */
    void hardwareLost(IreeException cause) {
        if (lossReported.compareAndSet(false, true) && !state.isClosed()) {
            if (!driver.isRemote()) {
                LOG.error("device '{}' is lost; everything on it fails", id(), cause);
            } else if (driver.draining() == null) {
                LOG.error("device '{}' is lost; everything on it fails: {}", id(), cause.getMessage());
            } else { // announced
                LOG.warn("device '{}' has left; everything on it fails: {}", id(), cause.getMessage());
            }
        }
        IreeException loss = DeviceLostException.by(id(), cause);
        if (state.loseHardware(loss) == Loss.NONE) {
            stopStreams(loss);
        }
        for (HardwareQueue queue : hardware) {
            queue.abandon(loss);
        }
    }

    boolean isHardwareLost() {
        return state.isHardwareLost();
    }

    /** Reports a loss on another thread, for callers that hold locks. */
    void loseLater(IreeException cause) {
        CallThreads.start("iree4j-lost " + id(), () -> {
            if (driver.isLost()) {
                hardwareLost(cause);
            } else {
                lost(cause);
            }
        });
    }

    private void lookFailed(Throwable thrown) {
        loseLater(waiter.failure(thrown));
    }

    @Override
    public void close() {
        boolean first = state.close();
        if (first) {
            beginClose();
        }
        if (!isOurThread() && !HeldCallbacks.isInCallback()) {
            awaitEnd(first);
        } else if (first) {
            CallThreads.start("iree4j-close " + id(), () -> awaitEnd(false));
        }
    }

    private void beginClose() {
        for (StreamQueue queue : queues) {
            queue.scheduler().close();
        }
        IreeException cause = IreeException.of(
                StatusCode.ABORTED, "device '" + info.id() + "' was closed while its work was in flight");
        for (StreamQueue queue : queues) {
            queue.stream().stop(cause, false);
        }
        channels.fail(cause);
        AtomicInteger lines = new AtomicInteger(queues.count());
        for (StreamQueue queue : queues) { // operations with a place on a stream enter the stream and count as work
            queue.scheduler().whenGiven(() -> {
                if (lines.decrementAndGet() == 0) {
                    work.close();
                }
            });
        }
    }

    /** Frees the parts of the closed device after its last operation. */
    private void workOver() {
        end("encoder", encoder::close);
        queues.forEach(each -> end("staging memory", each.staging()::close));
        end("imports", imports::close);
        end("memory", () -> memory.close(driverUses::end));
        calls.close();
        exports.forEach(each -> end("export", each::close));
        proactor.shutdown();
        if (state.abandoned() != null) {
            LOG.info("abandoned device '{}' has completed its work; its memory is freed", id());
        }
        driverUnused();
    }

    /** Closes a part. Nothing thrown by the driver may keep other parts from being closed. */
    private void end(String what, Runnable close) {
        try {
            close.run();
        } catch (RuntimeException | Error e) {
            LOG.error("{} of device '{}' could not be closed", what, id(), e);
        }
    }

    /** Runs a driver call that may take long on another thread. The driver stays until the call ends, even if the requesting work has ended. */
    private void issue(Runnable action) {
        boolean stays = calls.tryEnter();
        issuerThread.execute(() -> {
            try {
                action.run();
            } finally {
                if (stays) {
                    calls.exit();
                }
            }
        });
    }

    /** Ends a use of the driver. */
    void driverUnused() {
        driverUses.end();
    }

    private void freeDriver() {
        end("channels", channels::end);
        end("driver", driver::close);
    }

    /** Returns whether the calling thread belongs to the device and would wait for itself. */
    private boolean isOurThread() {
        for (StreamQueue queue : queues) {
            if (queue.stream().isStepThread()) {
                return true;
            }
        }
        return waiter.isOwner();
    }

    /**
     * Waits for the end of a closed device, and abandons the device at the limit.
     *
     * @param throwing whether to throw at the limit
     */
    private void awaitEnd(boolean throwing) {
        if (state.abandoned() != null || awaitFreed(closeLimit)) {
            return;
        }
        boolean busy = hardware.stream().anyMatch(HardwareQueue::isBusy);
        if (abandon(busy) && busy && throwing) {
            throw IreeException.of(
                    StatusCode.DEADLINE_EXCEEDED,
                    "device '%s' is not closed after %s: its hardware has not completed its work; its memory is kept until it has"
                            .formatted(info.id(), closeLimit));
        }
        // A host step may be running, for example user code: the thread that ends the step frees the rest.
    }

    /** Waits until everything is freed; returns whether everything is. */
    boolean awaitFreed(Duration limit) {
        return driverUses.awaitFreed(limit);
    }

    /** STREAM-6: fails operations in flight; operations keep their resources until completion. Returns whether this is the first call. */
    private boolean abandon(boolean hardwareBusy) {
        IreeException cause = IreeException.of(
                StatusCode.ABORTED,
                "device '%s' was closed and is abandoned: after %s %s; its memory is kept until then"
                        .formatted(
                                info.id(),
                                closeLimit,
                                hardwareBusy
                                        ? "its hardware has not completed its work"
                                        : "a host step is not complete, or a call of its driver"),
                state.lost());
        if (!state.abandon(cause)) {
            return false;
        }
        LOG.error("{}", cause.getMessage());
        for (StreamQueue queue : queues) {
            queue.scheduler().lost(cause); // first: operations that end from now on have failed
            queue.stream().failSignals(cause);
        }
        waiter.endImports(cause);
        // otherwise foreign waiters for the device's work would hang
        exports.forEach(each -> end("export", each::close));
        return true;
    }

    @Override
    public String toString() {
        return "device '" + info.id() + "'";
    }
}
