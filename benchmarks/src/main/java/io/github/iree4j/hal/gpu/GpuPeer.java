package io.github.iree4j.hal.gpu;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.QueueCounters;
import io.github.iree4j.hal.StreamCounters;
import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.DriverProvider;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/**
 * How much does a GPU cost through our queues, compared with the same work in C over the GPU's driver library? {@code
 * src/main/c/gpu_peer.c} has measurements of the same names; {@code run.sh bench} of {@code bin/gpu-bundle} runs both
 * and prints the ratios. This class does not use JMH, since most actions are measured twice in the same run: until all
 * is submitted, and until all is done.
 *
 * <pre>java -cp benchmarks.jar io.github.iree4j.hal.gpu.GpuPeer vulkan|cuda|hip [SECONDS [LARGEST|WAY]]</pre>
 *
 * <p>With {@code launches} or {@code graphs} instead of a size, only command buffers of several lengths are measured;
 * the property {@code iree.gpu.graph-commands} makes the driver take such command buffers in the named way.
 */
public final class GpuPeer implements AutoCloseable {
    private static final int CHAIN = 512;
    private static final int STAGES = 1000;
    private static final int START = 5;
    private static final int[] ADD_ONE = {1, 1};
    private static final DispatchConfig ONE_GROUP = DispatchConfig.of(1, 1, 1);
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final String[] SIZES = {"64KiB", "1MiB", "64MiB", "1GiB"};
    private static final long[] BYTES = {64L << 10, 1L << 20, 64L << 20, 1L << 30};

    /** Owns memory that outlives all transfers. */
    private static final RefCounted OWNER = new RefCounted() {
        @Override
        public void retain() {}

        @Override
        public void release() {}
    };

    private final Arena arena = Arena.ofShared();
    private final Device device;
    private final PeerReport report;
    private final Executable kernel;
    private final Buffer[] buffers = new Buffer[2];
    private final BindingTable[] bindings = new BindingTable[2];
    private final DeviceQueue[] queues = new DeviceQueue[2];
    private final TimelineSemaphore[] timelines = new TimelineSemaphore[2];
    private final long[] tickets = new long[2];
    private final TimelineSemaphore gate;
    private long gateTicket;
    private final List<Fence> fences = new ArrayList<>();

    private GpuPeer(Device device, PeerReport report) throws IOException {
        this.device = device;
        this.report = report;
        kernel = ScaleKernel.load(device);
        for (int i = 0; i < 2; i++) {
            buffers[i] = device.allocator().allocate(ofDevice(), ScaleKernel.ELEMENTS * 4L);
            timelines[i] = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
        }
        bindings[0] = BindingTable.of(buffers[0], buffers[1]);
        bindings[1] = BindingTable.of(buffers[1], buffers[0]);
        gate = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
        queues[0] = device.queue(0);
        queues[1] = anotherThatDispatches();
    }

    /**
     * Measures a driver's first device.
     *
     * @param arguments name of the driver; seconds of each measurement, 0.5 by default; bytes of the largest copy,
     *     1 GiB by default, or the way of giving recorded commands
     * @throws IOException when the kernel is missing
     */
    public static void main(String[] arguments) throws IOException {
        String driver = arguments.length > 0 ? arguments[0] : "vulkan";
        double seconds = arguments.length > 1 ? Double.parseDouble(arguments[1]) : 0.5;
        String last = arguments.length > 2 ? arguments[2] : "0x40000000";
        boolean way = last.equals("launches") || last.equals("graphs");
        DriverProvider provider = ServiceLoader.load(DriverProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(each -> each.name().equals(driver))
                .findFirst()
                .orElse(null);
        if (provider == null) {
            System.err.println("there is no driver '" + driver + "'");
            System.exit(2);
            return;
        }
        Availability availability = provider.availability();
        if (!availability.available()) {
            System.err.println("driver '" + driver + "' is not available: " + availability.reason());
            System.exit(2);
            return;
        }
        String which = System.getProperty("iree." + driver + ".device", driver);
        try (Device device = provider.open(which, DeviceOptions.DEFAULTS);
                GpuPeer peer = new GpuPeer(device, new PeerReport(driver, seconds))) {
            if (way) {
                peer.thresholds(last);
            } else {
                peer.run(Long.decode(last));
            }
        }
    }

    private static BufferParams ofDevice() {
        return new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
    }

    /**
     * The next queue able to run dispatches, since queues of some devices only copy; the first queue again if there is
     * no other.
     */
    private DeviceQueue anotherThatDispatches() {
        for (int i = 1; i < device.queueCount(); i++) {
            try (Fence done = Fence.at(timelines[1], tickets[1] + 1)) {
                device.queue(i).dispatch(null, done, kernel, 0, ONE_GROUP, ADD_ONE, bindings[0], 0);
                done.await(LIMIT);
                tickets[1]++;
                return device.queue(i);
            } catch (IreeException e) {
                timelines[1].close(); // failed
                timelines[1] = device.createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                tickets[1] = 0;
            }
        }
        return queues[0];
    }

    private int queueCount() {
        return queues[0].index() == queues[1].index() ? 1 : 2;
    }

    @Override
    public void close() {
        closeFences();
        for (int i = 0; i < 2; i++) {
            buffers[i].close();
            timelines[i].close();
        }
        gate.close();
        kernel.close();
        arena.close();
    }

    private void run(long largest) {
        report.device(device.info().name(), queueCount());
        try (CommandBuffer one = commands(0, 1);
                CommandBuffer many = commands(0, CHAIN)) {
            checkAndCount("chain512", CHAIN, this::chain);
            checkAndCount("graph512", CHAIN, () -> execute(many));
            checkAndCount("edges512", CHAIN, this::edges);
            report.time("latency", this::one);
            report.time("latency.recorded", () -> execute(one));
            report.times("chain512", CHAIN, this::chain);
            report.times("graph512", CHAIN, () -> execute(many));
            report.times("recorded512", CHAIN, () -> {
                try (CommandBuffer commands = commands(CommandBuffer.ONE_SHOT, CHAIN)) {
                    return execute(commands);
                }
            });
            report.times("edges512", CHAIN, this::edges);
        }
        checkAndCount("pipeline1000", STAGES, this::pipeline);
        report.times("pipeline1000", STAGES, this::pipeline);
        copies(largest);
    }

    /** Command buffers of several lengths, executed again and again. */
    private void thresholds(String way) {
        for (int length = 1; length <= CHAIN; length *= 2) {
            try (CommandBuffer many = commands(0, length)) {
                check(way, length, () -> execute(many));
                report.times("threshold." + length + "." + way, length, () -> execute(many));
            }
        }
        report.count("threshold." + way + ".launched", device.driverCounters().graphLaunches());
    }

    private Fence next(int queue) {
        Fence fence = Fence.at(timelines[queue], ++tickets[queue]);
        fences.add(fence);
        return fence;
    }

    private void closeFences() {
        fences.forEach(Fence::close);
        fences.clear();
    }

    private void awaitLast() {
        fences.getLast().await(LIMIT);
        closeFences();
    }

    private void dispatch(int queue, int parity, @Nullable Fence wait, Fence signal) {
        queues[queue].dispatch(wait, signal, kernel, 0, ONE_GROUP, ADD_ONE, bindings[parity], 0);
    }

    private long one() {
        dispatch(0, 0, null, next(0));
        long submitted = System.nanoTime();
        awaitLast();
        return submitted;
    }

    private long execute(CommandBuffer commands) {
        queues[0].execute(null, next(0), commands, null, 0);
        long submitted = System.nanoTime();
        awaitLast();
        return submitted;
    }

    /** Dispatches on a single queue, each waiting for the dispatch before. */
    private long chain() {
        Fence last = Fence.at(timelines[0], tickets[0]);
        fences.add(last);
        for (int i = 0; i < CHAIN; i++) {
            Fence done = next(0);
            dispatch(0, i & 1, last, done);
            last = done;
        }
        long submitted = System.nanoTime();
        awaitLast();
        return submitted;
    }

    /** Dispatches on two queues in turn, each waiting for the dispatch before. */
    private long edges() {
        Fence last = Fence.at(timelines[0], tickets[0]);
        fences.add(last);
        for (int i = 0; i < CHAIN; i++) {
            Fence done = next(i & 1);
            dispatch(i & 1, i & 1, last, done);
            last = done;
        }
        long submitted = System.nanoTime();
        awaitLast();
        return submitted;
    }

    /**
     * Stages on two queues in turn, all submitted before the first may run, each waiting for the two stages before: on
     * the other queue and on the same queue.
     */
    private long pipeline() {
        Fence open = Fence.at(gate, ++gateTicket);
        fences.add(open);
        for (int i = 0; i < STAGES; i++) {
            int queue = i & 1;
            Fence wait = i == 0
                    ? open
                    : Fence.of(List.of(
                            new Fence.Entry(timelines[queue ^ 1], tickets[queue ^ 1]),
                            new Fence.Entry(timelines[queue], tickets[queue])));
            if (i > 0) {
                fences.add(wait);
            }
            dispatch(queue, queue, wait, next(queue));
        }
        long submitted = System.nanoTime();
        gate.signal(gateTicket);
        awaitLast();
        return submitted;
    }

    /** Checks the values left by an action, and prints how the action's waits were resolved. */
    private void checkAndCount(String name, int added, PeerReport.Action action) {
        QueueCounters[] before = {queues[0].counters(), queues[1].counters()};
        StreamCounters[] streams = {queues[0].streamCounters(), queues[1].streamCounters()};
        check(name, added, action);
        Map<String, Long> counts = new LinkedHashMap<>();
        for (int i = 0; i < queueCount(); i++) {
            QueueCounters now = queues[i].counters();
            StreamCounters stream = queues[i].streamCounters();
            counts.merge("waits", now.waits() - before[i].waits(), Long::sum);
            counts.merge("waits.reached", now.reached() - before[i].reached(), Long::sum);
            counts.merge("waits.elidedFifo", now.elidedFifo() - before[i].elidedFifo(), Long::sum);
            counts.merge("waits.elidedFrontier", now.elidedFrontier() - before[i].elidedFrontier(), Long::sum);
            counts.merge("waits.covered", now.covered() - before[i].covered(), Long::sum);
            counts.merge("waits.device", now.deviceWaits() - before[i].deviceWaits(), Long::sum);
            counts.merge("waits.deferred", now.deferred() - before[i].deferred(), Long::sum);
            counts.merge("stream.submissions", stream.submissions() - streams[i].submissions(), Long::sum);
            counts.merge("stream.waits", stream.waits() - streams[i].waits(), Long::sum);
            counts.merge("stream.completions", stream.completions() - streams[i].completions(), Long::sum);
        }
        counts.forEach((what, count) -> report.count(name + "." + what, count));
    }

    private CommandBuffer commands(int modes, int dispatches) {
        CommandBuffer commands =
                device.createCommandBuffer(modes, CommandBuffer.TRANSFER | CommandBuffer.DISPATCH, -1, 0);
        for (int i = 0; i < dispatches; i++) {
            if (i > 0) {
                commands.executionBarrier(CommandBuffer.STAGE_COMMAND_RETIRE, CommandBuffer.STAGE_COMMAND_ISSUE, 0);
            }
            commands.dispatch(
                    kernel,
                    0,
                    ONE_GROUP,
                    ADD_ONE,
                    List.of(
                            BufferRef.of(buffers[i & 1], 0, Buffer.WHOLE),
                            BufferRef.of(buffers[i & 1 ^ 1], 0, Buffer.WHOLE)),
                    0);
        }
        commands.finish();
        return commands;
    }

    /** Fails unless a chain leaves the values computed by the chain's dispatches in order. */
    private void check(String name, int added, PeerReport.Action action) {
        long bytes = ScaleKernel.ELEMENTS * 4L;
        MemorySegment values = arena.allocate(bytes, 4096);
        queues[0].fill(null, next(0), buffers[0], 0, bytes, START, 4, 0);
        awaitLast();
        action.run();
        try (HalFile file = HalFile.ofMemory(values, MemoryAccess.READ | MemoryAccess.WRITE, null)) {
            queues[0].write(null, next(0), buffers[added & 1], 0, file, 0, bytes, 0);
            awaitLast();
        }
        for (int i = 0; i < ScaleKernel.ELEMENTS; i++) {
            int value = values.getAtIndex(ValueLayout.JAVA_INT, i);
            if (value != START + added) {
                throw new IllegalStateException(
                        "%s: element %d is %d, expected %d".formatted(name, i, value, START + added));
            }
        }
    }

    private void copies(long largest) {
        BufferParams pinned = new BufferParams(
                MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE, BufferUsage.TRANSFER | BufferUsage.MAPPING);
        try (Buffer first = device.allocator().allocate(ofDevice(), largest);
                Buffer second = device.allocator().allocate(ofDevice(), largest);
                Buffer host = device.allocator().allocate(pinned, largest)) {
            host.map(MemoryAccess.WRITE, 0, largest).fill((byte) 1);
            MemorySegment pageable = arena.allocate(largest, 4096).fill((byte) 2);
            for (int i = 0; i < SIZES.length && BYTES[i] <= largest; i++) {
                copies(SIZES[i], BYTES[i], first, second, host, pageable);
            }
        } catch (IreeException e) {
            report.skipped("copy", e);
        }
    }

    private void copies(String size, long bytes, Buffer first, Buffer second, Buffer host, MemorySegment pageable) {
        copy("copy.h2d." + size + ".pinned", bytes, host, first);
        copy("copy.d2h." + size + ".pinned", bytes, first, host);
        copy("copy.d2d." + size, bytes, first, second);
        try (HalFile file = HalFile.ofMemory(pageable, MemoryAccess.READ | MemoryAccess.WRITE, OWNER)) {
            report.rate("copy.h2d." + size + ".pageable", bytes, () -> {
                queues[0].read(null, next(0), file, 0, first, 0, bytes, 0);
                return finish();
            });
            report.rate("copy.d2h." + size + ".pageable", bytes, () -> {
                queues[0].write(null, next(0), first, 0, file, 0, bytes, 0);
                return finish();
            });
        }
        MemorySegment part = pageable.asSlice(0, bytes);
        report.rate("copy.h2d." + size + ".caller", bytes, () -> {
            first.write(0, part);
            return System.nanoTime();
        });
        report.rate("copy.d2h." + size + ".caller", bytes, () -> {
            first.read(0, part);
            return System.nanoTime();
        });
        report.rate("fill." + size, bytes, () -> {
            queues[0].fill(null, next(0), first, 0, bytes, 7, 4, 0);
            return finish();
        });
    }

    private void copy(String name, long bytes, Buffer source, Buffer target) {
        report.rate(name, bytes, () -> {
            queues[0].copy(null, next(0), source, 0, target, 0, bytes, 0);
            return finish();
        });
    }

    private long finish() {
        long submitted = System.nanoTime();
        awaitLast();
        return submitted;
    }
}
