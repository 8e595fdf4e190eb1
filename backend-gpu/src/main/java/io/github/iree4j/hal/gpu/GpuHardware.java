package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.DevicePattern;
import io.github.iree4j.hal.stream.DriverLimits;
import io.github.iree4j.hal.stream.DriverMemory;
import io.github.iree4j.hal.stream.DriverTimeline;
import io.github.iree4j.hal.stream.HostRegistrations;
import io.github.iree4j.hal.stream.Lane;
import io.github.iree4j.hal.stream.MemoryKind;
import io.github.iree4j.hal.stream.MemoryKinds;
import io.github.iree4j.hal.stream.StreamCollectives;
import io.github.iree4j.hal.stream.StreamDriver;
import io.github.iree4j.hal.stream.StreamEncoder;
import io.github.iree4j.hal.stream.StreamMemory;
import io.github.iree4j.nativeaccess.SlabMemory;
import io.github.iree4j.nativeaccess.gpu.GpuDevice;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import io.github.iree4j.nativeaccess.gpu.GpuProperties;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A device of CUDA or HIP. */
final class GpuHardware implements StreamDriver {
    /** Alignment of allocations by drivers; relied on by kernels of compilers. */
    private static final long ALIGNMENT = 256;

    private static final int MANAGED = 2; // type of memory
    private static final long LEAST_MEMORY = 1 << 20; // of a device whose memory others have
    private static final long LOOK_NANOS = 200_000; // between looks at foreign events

    private static final Logger LOG = LoggerFactory.getLogger(GpuHardware.class);

    private final String id;
    private final GpuDevice device;
    private final GpuEvents events;
    private final GpuGraphs graphs;
    private final KnownGraphs knownGraphs;
    private final HostRegistrations registrations;
    private final GpuCodeCache code;
    private final Map<GpuDevice, String> peers =
            Collections.synchronizedMap(new WeakHashMap<>()); // obstacles; empty for none
    private final MemoryKinds kinds;
    private final List<GpuLane> lanes = new ArrayList<>();
    private final List<GpuLane> ofParticipants = new CopyOnWriteArrayList<>(); // lanes of participants in collectives
    private final Supplier<GpuLibrary> collectives; // opens the library of collectives
    private final AtomicInteger laneNumbers = new AtomicInteger();
    private final int window;
    private final AtomicReference<@Nullable GpuLane> giver = new AtomicReference<>(); // GPU-9
    private volatile @Nullable Thread waiter; // the thread in awaitAny
    private volatile @Nullable IreeException failure; // the reason why streams are given nothing more

    /**
     * Wraps an open device.
     *
     * @param id name for messages
     * @param device ownership passes unless this throws
     * @param registrations registrations of all devices of the driver
     * @param collectives opens the library of collectives
     * @param hostMemory bytes of the host
     * @param options decide where compiled code is kept
     * @param laneCount number of streams
     * @param window limit of commands in flight on each stream, for threads other than the lane's own to give more
     * @param linger nanoseconds of the attendance of a lane's thread after the last work; 0 for no attendance
     */
    GpuHardware(
            String id,
            GpuDevice device,
            HostRegistrations registrations,
            Supplier<GpuLibrary> collectives,
            long hostMemory,
            DeviceOptions options,
            int laneCount,
            int window,
            long linger) {
        this.id = id;
        this.collectives = collectives;
        this.window = window;
        this.device = device;
        this.events = new GpuEvents(device);
        this.graphs = new GpuGraphs(device);
        this.knownGraphs = new KnownGraphs(device, graphs);
        this.registrations = registrations;
        this.code = new GpuCodeCache(device, options, architecture());
        long memory =
                options.memoryLimit() == 0 ? available() : device.properties().memory();
        MemoryKind own = new MemoryKind("device", 0, 0, memory, MemoryType.DEVICE_LOCAL);
        MemoryKind host = new MemoryKind(
                "host",
                1,
                1,
                hostMemory,
                MemoryType.DEVICE_VISIBLE | MemoryType.HOST_LOCAL | MemoryType.HOST_COHERENT | MemoryType.HOST_CACHED);
        // On a separate heap: managed memory may be in device or host memory, and is for allocations meant to be in
        // both.
        MemoryKind managed = device.properties().concurrentManagedMemory()
                ? new MemoryKind(
                        "managed",
                        MANAGED,
                        2,
                        device.properties().memory(),
                        host.halType() & ~MemoryType.HOST_LOCAL
                                | MemoryType.DEVICE_LOCAL
                                | MemoryType.HOST_VISIBLE
                                | MemoryType.HOST_COHERENT)
                : null;
        this.kinds = new MemoryKinds(own, managed, host, host);
        boolean made = false;
        try {
            while (lanes.size() < laneCount) {
                lanes.add(new GpuLane(this, laneNumbers.getAndIncrement(), window, linger));
            }
            lanes.forEach(GpuLane::start);
            made = true;
        } finally {
            if (!made) {
                closeLanes();
            }
        }
    }

    String id() {
        return id;
    }

    /** Returns the native device, borrowed. */
    GpuDevice device() {
        return device;
    }

    GpuEvents events() {
        return events;
    }

    GpuGraphs graphs() {
        return graphs;
    }

    KnownGraphs knownGraphs() {
        return knownGraphs;
    }

    GpuCodeCache code() {
        return code;
    }

    HostRegistrations registrations() {
        return registrations;
    }

    /** Returns the device's memory not taken by any process; all memory where the driver cannot tell. */
    private long available() {
        long total = device.properties().memory();
        try {
            long free = device.availableMemory();
            if (free < 0) {
                return total;
            }
            if (free < total / 2) {
                LOG.warn(
                        "device '{}' has {} MiB of its {} MiB free; others have the rest. The default budget is what is free: set a budget if others will free memory",
                        id,
                        free >> 20,
                        total >> 20);
            }
            return Math.clamp(free, LEAST_MEMORY, total);
        } catch (IreeException e) { // a lost device reports its loss with the first work
            LOG.debug("device '{}' does not say how much memory is free: {}", id, e.getMessage());
            return total;
        }
    }

    /** Returns the architecture, as named by compilers. */
    String architecture() {
        GpuProperties properties = device.properties();
        return device.api().kind() == GpuKind.CUDA
                ? "sm_" + properties.major() + properties.minor()
                : "compute " + properties.major() + "." + properties.minor();
    }

    /** Returns the flag of the compiler for this architecture. */
    String compileFlag() {
        return device.api().kind() == GpuKind.CUDA
                ? "--iree-cuda-target=" + architecture()
                : "--iree-rocm-target=<architecture that rocminfo names>";
    }

    // ---- Loss.

    void checkNotLost() {
        IreeException loss = device.loss();
        if (loss != null) {
            wakeWaiter(); // the waiter reports the loss
            throw IreeException.of(StatusCode.ABORTED, "%s: %s".formatted(id, loss.getMessage()), loss);
        }
    }

    /**
     * Checks that the streams accept work.
     *
     * @throws IreeException ABORTED for a lost device; or the cause of the device's failure
     */
    void checkTakesWork() {
        checkNotLost();
        IreeException cause = failure;
        if (cause != null) {
            throw cause;
        }
    }

    /** Fails the device: the streams finish their work, and are given nothing more. */
    void fail(String what, Throwable thrown) {
        if (failure == null) {
            LOG.error("{} of device '{}', which takes no more work", what, id, thrown);
            StatusCode code = thrown instanceof IreeException cause && cause.code() != StatusCode.ABORTED
                    ? cause.code()
                    : StatusCode.INTERNAL;
            failure = IreeException.of(
                    code, "device '%s' takes no more work: %s: %s".formatted(id, what, thrown.getMessage()), thrown);
        }
        lanes.forEach(GpuLane::wake);
        ofParticipants.forEach(GpuLane::wake);
        wakeWaiter();
    }

    /** Returns the reason why streams are given nothing more; null while streams are given work. */
    @Nullable
    IreeException failure() {
        return failure;
    }

    @Override
    public boolean isLost() {
        return device.isLost();
    }

    // ---- Streams and timelines.

    @Override
    public List<Lane> lanes() {
        return List.copyOf(lanes);
    }

    @Override
    public DriverTimeline createTimeline(long value, boolean shared) {
        if (shared) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "device '%s' shares no semaphores with other drivers; signal one from the host".formatted(id));
        }
        return new GpuTimeline(this, null, null, value);
    }

    @Override
    public DriverTimeline importEvent(long event, long value) {
        device.isComplete(event); // the driver knows the event
        return new GpuTimeline(this, null, new GpuEvents.Event(event, true), value);
    }

    @Override
    public void awaitAny(DriverTimeline[] timelines, long[] values, int count, long timeoutNanos) {
        waiter = Thread.currentThread(); // before the check: a thread raising a timeline wakes the waiter afterwards
        if (!isAnyReached(timelines, values, count) && !device.isLost() && failure == null) {
            boolean looks = Arrays.stream(timelines, 0, count).anyMatch(each -> ((GpuTimeline) each).isImported());
            long limit = looks ? Math.min(timeoutNanos, LOOK_NANOS) : timeoutNanos;
            if (limit == Long.MAX_VALUE) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, limit);
            }
        }
        checkTakesWork();
    }

    private static boolean isAnyReached(DriverTimeline[] timelines, long[] values, int count) {
        for (int i = 0; i < count; i++) {
            if (((GpuTimeline) timelines[i]).hasReached(values[i])) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean isWatchedByWaiters() {
        return true;
    }

    /** Returns whether the thread of a lane gives the submissions of all lanes. */
    boolean hasGiver() {
        return giver.get() != null;
    }

    /** Makes the thread of a lane the giver, unless there is another; returns whether the thread is the giver. */
    boolean tryBeGiver(GpuLane lane) {
        GpuLane now = giver.get();
        return now == null ? giver.compareAndSet(null, lane) : now.equals(lane);
    }

    /** Ends the work of the giver, if this lane's thread is the giver; GPU-9. */
    void endGiver(GpuLane lane) {
        if (giver.compareAndSet(lane, null)) {
            feedLanes(Integer.MAX_VALUE);
        }
    }

    /** Gives held submissions, up to a number for each lane; returns whether the calling thread gave some. */
    boolean feedLanes(int limit) {
        boolean gave = false;
        for (GpuLane lane : lanes) {
            gave |= lane.feedHeld(limit);
        }
        return gave;
    }

    /** Makes the waiting thread look. */
    void wakeWaiter() {
        Thread thread = waiter;
        if (thread != null) {
            LockSupport.unpark(thread);
        }
    }

    @Override
    public long heldCount() {
        return lanes.stream().mapToLong(GpuLane::heldCount).sum();
    }

    @Override
    public long eventCount() {
        return events.made();
    }

    @Override
    public long graphLaunchCount() {
        return graphs.launches();
    }

    // ---- Collectives.

    @Override
    public StreamCollectives collectives() {
        return collectives.get();
    }

    /** Opens the lane of a participant, for {@link #closeLane}. */
    GpuLane openLane() {
        GpuLane lane =
                new GpuLane(this, laneNumbers.getAndIncrement(), window, 0); // has its own waits, and may be closed
        ofParticipants.add(lane);
        lane.start();
        return lane;
    }

    /** Closes a participant's lane. The lane is idle, or the device is lost. */
    void closeLane(GpuLane lane) {
        lane.stop();
        ofParticipants.remove(lane);
        lane.close();
    }

    // ---- Memory.

    @Override
    public MemoryKinds memoryKinds() {
        return kinds;
    }

    @Override
    public DriverLimits limits() {
        return new DriverLimits(ALIGNMENT, Long.MAX_VALUE, 0, SlabMemory.pageSize());
    }

    @Override
    public String identity() {
        return device.properties().uuid();
    }

    @Override
    public DriverMemory allocate(long size, MemoryKind kind, boolean shared) {
        if (shared) {
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED,
                    "device '%s' shares no memory with other drivers; copy it through the host".formatted(id));
        }
        return kind.type() == MANAGED || !kind.isMappable()
                ? GpuMemory.ofDevice(device, size, kind.type() == MANAGED)
                : GpuMemory.ofHost(device, size);
    }

    @Override
    public @Nullable String hostMemoryObstacle() {
        GpuProperties properties = device.properties();
        return !properties.mapsHostMemory()
                ? "it cannot use memory of the host"
                : device.api().kind() == GpuKind.CUDA && !properties.registersHostMemory()
                        ? "its driver registers no memory of the host"
                        : null;
    }

    @Override
    public DriverMemory importHost(long address, long size, boolean readOnly) {
        return GpuMemory.registered(device, registrations, address, size, readOnly);
    }

    @Override
    public DriverMemory importDevice(long address, long size) {
        return GpuMemory.ofOthers(device, address, size);
    }

    @Override
    public @Nullable String peerObstacle(StreamDriver other) {
        @Nullable
        String obstacle = other instanceof GpuHardware peer && peer.device.api().equals(device.api())
                ? peers.computeIfAbsent(peer.device, this::reach)
                : StreamDriver.super.peerObstacle(other);
        return obstacle == null || obstacle.isEmpty() ? null : obstacle;
    }

    private String reach(GpuDevice peer) {
        if (!device.tryRetain()) {
            return "it is closed";
        }
        try {
            if (!peer.tryRetain()) {
                return "the other is closed";
            }
            try {
                device.reach(peer);
                return "";
            } finally {
                peer.release();
            }
        } catch (IreeException e) {
            return String.valueOf(e.getMessage());
        } finally {
            device.release();
        }
    }

    // ---- Code.

    @Override
    public List<String> formats() {
        return List.of(device.api().kind() == GpuKind.CUDA ? GpuExecutableFile.CUDA : GpuExecutableFile.HIP);
    }

    /** Programs of earlier releases of IREE name the driver so. */
    @Override
    public boolean isNamed(String pattern) {
        return device.api().kind() == GpuKind.HIP && DevicePattern.matches(pattern, HipDriverProvider.FORMER_NAME);
    }

    @Override
    public String compileFlags(String format) {
        return (device.api().kind() == GpuKind.CUDA
                        ? "--iree-hal-target-device=cuda "
                        : "--iree-hal-target-device=hip ")
                + compileFlag();
    }

    @Override
    public String remedy(String format) {
        return "compile the program with " + compileFlags(format) + " or choose another device";
    }

    @Override
    public Executable load(ExecutableParams params) {
        return GpuExecutable.load(this, params);
    }

    @Override
    public StreamEncoder encoder(StreamMemory memory) {
        return new GpuEncoder(this, memory);
    }

    private void closeLanes() {
        lanes.forEach(GpuLane::stop);
        lanes.forEach(GpuLane::close);
        knownGraphs.close();
        graphs.close();
        events.close();
    }

    @Override
    public void close() {
        closeLanes();
        device.close(); // memory and executables keep the device open until closed too
    }
}
