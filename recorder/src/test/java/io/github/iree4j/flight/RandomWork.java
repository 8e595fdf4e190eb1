package io.github.iree4j.flight;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualScript;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Random work on virtual devices of a single scheduling domain: streams and unordered queues, promises, late waits,
 * memory.
 */
final class RandomWork implements AutoCloseable {
    final VirtualClock clock = VirtualClock.stepped();
    final FrontierTracker tracker = FrontierTracker.create();
    final SchedulingDomain domain;
    final List<VirtualDevice> devices = new ArrayList<>();
    final List<DeviceQueue> queues = new ArrayList<>();
    final List<TimelineSemaphore> timelines = new ArrayList<>();
    final Map<FlightEvent.Point, Frontier> signalled = new LinkedHashMap<>();
    private final Random random;
    private final long[] next;
    private final List<Held> buffers = new ArrayList<>();
    private final List<Buffer> all = new ArrayList<>();
    private final List<Fence> fences = new ArrayList<>();
    private final long memory;
    private final boolean closesMemory;

    private record Held(Buffer buffer, Fence allocated) {}

    RandomWork(long seed, long memoryLimit) {
        this(seed, memoryLimit, false);
    }

    /**
     * Creates devices.
     *
     * @param closesMemory whether the host closes half of the memory, in place of deallocations
     */
    RandomWork(long seed, long memoryLimit, boolean closesMemory) {
        this.closesMemory = closesMemory;
        this.random = new Random(seed);
        this.memory = memoryLimit;
        this.domain = SchedulingDomain.create(AxisAllocator.create(3, 0), tracker, random.nextBoolean() ? 12 : 3);
        Object group = new Object();
        VirtualScript script = new VirtualScript() {
            @Override
            public long duration(int queue, long number, QueueOperation operation) {
                return 1000 * (1 + (queue * 31 + number * 17) % 9);
            }

            @Override
            public long completionDelay(int queue, long number, QueueOperation operation) {
                return number % 5 == 0 ? 1500 : 0;
            }
        };
        for (int i = 0; i < 2; i++) {
            VirtualDevice.Builder builder = VirtualDevice.builder()
                    .id("v" + i)
                    .clock(clock)
                    .script(script)
                    .schedulingDomain(domain)
                    .memoryLimit(memoryLimit)
                    .directGroup(i == 0 || random.nextBoolean() ? group : new Object());
            builder.fifoQueues(2);
            if (random.nextBoolean()) {
                builder.unorderedQueue(1 + random.nextInt(3));
            }
            VirtualDevice device = builder.build();
            devices.add(device);
            for (int q = 0; q < device.queueCount(); q++) {
                queues.add(device.queue(q));
            }
        }
        for (int i = 0; i < 6; i++) {
            TimelineSemaphore timeline = TimelineSemaphore.create(0);
            timeline.keepHistory();
            timelines.add(timeline);
        }
        this.next = new long[timelines.size()];
    }

    /** Submits operations, with steps of the clock between them; leaves the work under way then. */
    void begin(int operations) {
        for (int i = 0; i < operations; i++) {
            submit();
            if (closesMemory) {
                closeMemory();
            }
            for (int steps = random.nextInt(4); steps > 0 && random.nextBoolean(); steps--) {
                clock.step();
            }
        }
    }

    /** Submits operations, then runs everything. */
    void run(int operations) {
        begin(operations);
        clock.runUntilIdle();
        for (Map.Entry<FlightEvent.Point, Frontier> each : signalled.entrySet()) {
            for (TimelineSemaphore timeline : timelines) {
                if (timeline.id() == each.getKey().timeline()
                        && timeline.frontierAt(each.getKey().value()) instanceof Frontier carried) {
                    each.setValue(carried);
                }
            }
        }
    }

    private void submit() {
        DeviceQueue queue = queues.get(random.nextInt(queues.size()));
        int kind = random.nextInt(10);
        Fence signal = signal();
        Fence wait = wait(signal);
        if (kind == 0) {
            Buffer buffer = queue.alloca(
                    wait,
                    signal,
                    BufferParams.DEFAULT,
                    64L * (1 + random.nextInt((int) (memory / 256))),
                    DeviceQueue.ALLOCA_ALLOW_POOL_WAIT_FRONTIER);
            buffers.add(new Held(buffer, signal));
            all.add(buffer);
        } else if (kind <= 2 && !buffers.isEmpty()) {
            Held held = buffers.remove(random.nextInt(buffers.size()));
            Fence after = join(wait, held.allocated);
            queue.dealloca(after, signal, held.buffer, 0);
        } else {
            queue.barrier(wait, signal, 0);
        }
    }

    /** Closes half of the allocated memory. */
    private void closeMemory() {
        buffers.removeIf(held -> {
            boolean closes = held.allocated.isReached() && random.nextBoolean();
            if (closes) {
                held.buffer.close();
            }
            return closes;
        });
    }

    private Fence join(Fence left, Fence right) {
        if (left == null) {
            return right;
        }
        Fence both = Fence.join(left, right);
        fences.add(both);
        return both;
    }

    private Fence signal() {
        int which = random.nextInt(timelines.size());
        long value = ++next[which];
        signalled.put(new FlightEvent.Point(timelines.get(which).id(), value), Frontier.EMPTY);
        Fence fence = Fence.at(timelines.get(which), value);
        fences.add(fence);
        return fence;
    }

    private Fence wait(Fence own) {
        Fence fence = null;
        for (int i = 0; i < timelines.size(); i++) {
            long limit = own.semaphore(0).equals(timelines.get(i)) ? next[i] - 1 : next[i];
            boolean previous = own.semaphore(0).equals(timelines.get(i)); // values are signalled in order
            if (limit > 0 && (previous || random.nextInt(4) == 0)) {
                long value = previous ? limit : 1 + random.nextLong(limit);
                Fence point = Fence.at(timelines.get(i), value);
                fences.add(point);
                fence = join(fence, point);
            }
        }
        return fence;
    }

    @Override
    public void close() {
        all.forEach(Buffer::close);
        fences.forEach(Fence::close);
        devices.forEach(VirtualDevice::close);
        timelines.forEach(TimelineSemaphore::close);
        tracker.close();
    }
}
