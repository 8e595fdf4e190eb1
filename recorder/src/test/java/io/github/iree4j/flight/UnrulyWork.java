package io.github.iree4j.flight;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualOperation;
import io.github.iree4j.hal.virtual.VirtualScript;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Work with broken rules: timelines jump over values, and fail because two operations signal in the wrong order;
 * operations fail, ends are reported late, a device is lost, memory is short, the recorder is opened in mid-work, and
 * closed before the end.
 */
final class UnrulyWork {
    private static final long PAGE = 4096;

    private final Random random;
    private final VirtualClock clock = VirtualClock.stepped();
    private final SchedulingDomain domain;
    private final List<VirtualDevice> devices = new ArrayList<>();
    private final List<TimelineSemaphore> timelines = new ArrayList<>();
    private final long[] last; // values
    private final Map<Integer, Place> signallers = new HashMap<>(); // the last of each timeline
    private final List<Allocated> allocated = new ArrayList<>();
    private final List<Buffer> buffers = new ArrayList<>();
    private final List<Fence> fences = new ArrayList<>();

    private record Place(VirtualDevice device, int queue) {}

    private record Allocated(Place place, Buffer buffer, Fence.Entry end) {}

    private final class Script implements VirtualScript {
        @Override
        public long duration(int queue, long number, QueueOperation operation) {
            return random.nextInt(5) == 0 ? 0 : 1 + random.nextInt(1000);
        }

        @Override
        public long completionDelay(int queue, long number, QueueOperation operation) {
            return random.nextInt(3) == 0 ? random.nextInt(300) : 0;
        }

        @Override
        public @Nullable IreeException failure(int queue, long number, QueueOperation operation) {
            return random.nextInt(60) == 0 ? IreeException.of(StatusCode.INTERNAL, "as its script says") : null;
        }
    }

    private UnrulyWork(Random random, FrontierTracker tracker) {
        this.random = random;
        this.domain = SchedulingDomain.create(AxisAllocator.create(1, 0), tracker, random.nextBoolean() ? 8 : 64);
        Object group = new Object();
        int kinds = random.nextInt(3); // streams, unordered queues, or both
        boolean limited = random.nextInt(3) == 0;
        for (int i = 1 + random.nextInt(4); i > 0; i--) {
            VirtualDevice.Builder builder = VirtualDevice.builder()
                    .id("device-" + i)
                    .clock(clock)
                    .script(new Script())
                    .schedulingDomain(domain)
                    .directGroup(group);
            if (limited) {
                builder.memoryLimit(64 * PAGE);
            }
            if (kinds == 0 || kinds == 2 && i % 2 == 0) {
                builder.fifoQueues(1 + random.nextInt(3));
            } else {
                builder.unorderedQueue(1 + random.nextInt(4));
            }
            devices.add(builder.build());
        }
        for (int i = 1 + random.nextInt(6); i > 0; i--) {
            timelines.add(TimelineSemaphore.create(0));
        }
        this.last = new long[timelines.size()];
    }

    /**
     * Records work.
     *
     * @param most the most operations
     */
    static FlightRecording record(long seed, int most) throws IOException {
        FrontierTracker tracker = FrontierTracker.create();
        UnrulyWork work = new UnrulyWork(new Random(seed), tracker);
        try {
            return work.run(most);
        } finally {
            work.close();
            tracker.close();
        }
    }

    private FlightRecording run(int most) throws IOException {
        int count = 3 + random.nextInt(most);
        int before = random.nextInt(3) == 0 ? random.nextInt(count) : 0;
        int loss = random.nextInt(8) == 0 ? count / 2 : count;
        boolean inOrder = random.nextBoolean();
        submit(0, before, loss, inOrder);
        try (FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now)) {
            submit(before, count, loss, inOrder);
            if (random.nextInt(4) > 0) {
                clock.runUntilIdle();
            }
            return recorder.recording();
        }
    }

    private void submit(int from, int to, int loss, boolean inOrder) {
        for (int i = from; i < to; i++) {
            for (int steps = random.nextInt(4) == 0 ? random.nextInt(6) : 0; steps > 0; steps--) {
                clock.step();
            }
            submit(inOrder);
            if (i == loss) {
                devices.getFirst().lose(IreeException.of(StatusCode.UNAVAILABLE, "lost in a test"));
            }
        }
    }

    private void submit(boolean inOrder) {
        VirtualDevice device = devices.get(random.nextInt(devices.size()));
        Place place = new Place(device, random.nextInt(device.queueCount()));
        Map<Integer, Long> waits = new HashMap<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            int which = random.nextInt(last.length);
            if (last[which] > 0) {
                waits.put(which, 1 + random.nextLong(last[which]));
            }
        }
        int own = random.nextInt(last.length);
        if (last[own] > 0 && (inOrder || !place.equals(signallers.get(own)))) {
            waits.put(own, last[own]);
        }
        signallers.put(own, place);
        last[own] += 1 + (random.nextInt(4) == 0 ? random.nextInt(3) : 0);
        Fence.Entry end = new Fence.Entry(timelines.get(own), last[own]);
        Fence signal = keep(Fence.of(List.of(end)));
        int kind = random.nextInt(6);
        try {
            if (kind == 0) {
                Buffer buffer = device.queue(place.queue)
                        .alloca(fence(waits), signal, BufferParams.DEFAULT, (1 + random.nextInt(12)) * PAGE, 0);
                buffers.add(buffer);
                allocated.add(new Allocated(place, buffer, end));
            } else if (kind == 1 && !allocated.isEmpty()) {
                Allocated memory = allocated.remove(random.nextInt(allocated.size()));
                waits.merge(timelines.indexOf(memory.end.semaphore()), memory.end.value(), Math::max);
                memory.place.device.queue(memory.place.queue).dealloca(fence(waits), signal, memory.buffer, 0);
            } else {
                device.submit(place.queue, fence(waits), signal, new VirtualOperation("work"));
            }
        } catch (IreeException e) {
            // A lost device refuses.
        }
    }

    private @Nullable Fence fence(Map<Integer, Long> points) {
        List<Fence.Entry> entries = new ArrayList<>();
        points.forEach((which, value) -> entries.add(new Fence.Entry(timelines.get(which), value)));
        return entries.isEmpty() ? null : keep(Fence.of(entries));
    }

    private Fence keep(Fence fence) {
        fences.add(fence);
        return fence;
    }

    private void close() {
        devices.forEach(VirtualDevice::close);
        clock.runUntilIdle();
        fences.forEach(Fence::close);
        buffers.forEach(Buffer::close);
        timelines.forEach(TimelineSemaphore::close);
    }
}
