package io.example.threads;

import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.DriverLimits;
import io.github.iree4j.hal.stream.DriverMemory;
import io.github.iree4j.hal.stream.DriverTimeline;
import io.github.iree4j.hal.stream.Lane;
import io.github.iree4j.hal.stream.MemoryKind;
import io.github.iree4j.hal.stream.MemoryKinds;
import io.github.iree4j.hal.stream.StreamDriver;
import io.github.iree4j.hal.stream.StreamEncoder;
import io.github.iree4j.hal.stream.StreamMemory;
import io.github.iree4j.hal.stream.StreamStorage;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.ServiceLoader;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** One device: some threads, and the memory of this process. */
final class ThreadDriver implements StreamDriver {
    private static final int LANES = 2; // unless set in the options
    private static final long ALIGNMENT = 64;
    private static final int HOST =
            MemoryType.DEVICE_LOCAL | MemoryType.HOST_LOCAL | MemoryType.HOST_COHERENT | MemoryType.HOST_CACHED;

    private final Clock clock = new Clock();
    private final List<ThreadLane> lanes;
    private final List<KernelLibrary> libraries;
    private final MemoryKinds kinds;
    private final ThreadMemory.Handles memory = new ThreadMemory.Handles();

    ThreadDriver(DeviceOptions options) {
        this(options, false);
    }

    /**
     * Starts the threads.
     *
     * @param hidden whether the host does not see the device's memory, as with the memory of a graphics card
     */
    ThreadDriver(DeviceOptions options, boolean hidden) {
        int count = options.queueCount() == 0 ? LANES : options.queueCount();
        this.lanes = IntStream.range(0, count)
                .mapToObj(index -> new ThreadLane(clock, index))
                .toList();
        this.libraries = ServiceLoader.load(KernelLibrary.class).stream()
                .map(ServiceLoader.Provider::get)
                .toList();
        long size = Runtime.getRuntime().maxMemory();
        if (hidden) {
            MemoryKind device = new MemoryKind("device", 1, 1, size, MemoryType.DEVICE_LOCAL);
            int type = HOST & ~MemoryType.DEVICE_LOCAL | MemoryType.DEVICE_VISIBLE;
            MemoryKind host = new MemoryKind("host", 0, 0, size, type);
            this.kinds = new MemoryKinds(device, null, host, host);
        } else {
            MemoryKind host = new MemoryKind("host", 0, 0, size, HOST);
            this.kinds = new MemoryKinds(host, host, host, host);
        }
    }

    /** Returns the bytes of a range of storage, visible to the host or hidden. */
    MemorySegment bytes(StreamStorage storage, long offset, long length) {
        return memory.bytes(storage.handle()).asSlice(storage.offset() + offset, length);
    }

    /** Pauses or continues the lanes. */
    void hold(boolean on) {
        lanes.forEach(lane -> lane.hold(on));
    }

    @Override
    public List<Lane> lanes() {
        return List.copyOf(lanes);
    }

    @Override
    public DriverTimeline createTimeline(long value, boolean shared) {
        if (shared) {
            throw IreeException.of(StatusCode.UNIMPLEMENTED, "threads share no semaphores with other drivers");
        }
        return clock.new Timeline(value);
    }

    @Override
    public void awaitAny(DriverTimeline[] timelines, long[] values, int count, long timeoutNanos) {
        synchronized (clock) {
            try {
                clock.await(
                        () -> IntStream.range(0, count)
                                .anyMatch(i -> ((Clock.Timeline) timelines[i]).hasReached(values[i])),
                        timeoutNanos);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            clock.checkNotLost();
        }
    }

    @Override
    public boolean isLost() {
        return clock.isLost();
    }

    @Override
    public MemoryKinds memoryKinds() {
        return kinds;
    }

    @Override
    public DriverLimits limits() {
        return new DriverLimits(ALIGNMENT, Long.MAX_VALUE, 0, ALIGNMENT);
    }

    @Override
    public String identity() {
        return UUID.nameUUIDFromBytes(new byte[] {1}).toString();
    }

    @Override
    public DriverMemory allocate(long size, MemoryKind kind, boolean shared) {
        if (shared) {
            throw IreeException.of(StatusCode.UNIMPLEMENTED, "threads share no memory with other drivers");
        }
        try {
            return ThreadMemory.allocate(memory, size, ALIGNMENT, kind.isMappable());
        } catch (OutOfMemoryError e) {
            throw IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "the process has no %d bytes left".formatted(size), e);
        }
    }

    @Override
    public @Nullable String hostMemoryObstacle() {
        return null;
    }

    @Override
    public DriverMemory importHost(long address, long size, boolean readOnly) {
        return ThreadMemory.at(memory, address, size);
    }

    @Override
    public List<String> formats() {
        return libraries.stream().map(KernelLibrary::format).toList();
    }

    @Override
    public Executable load(ExecutableParams params) {
        KernelLibrary library = libraries.stream()
                .filter(each -> each.format().equals(params.format()))
                .findFirst()
                .orElseThrow(); // the device only loads formats()
        return new KernelExecutable(this, params.format(), library.kernels(params.constants()));
    }

    @Override
    public StreamEncoder encoder(StreamMemory memory) {
        return new ThreadEncoder(this);
    }

    @Override
    public void close() {
        lanes.forEach(ThreadLane::close);
    }
}
