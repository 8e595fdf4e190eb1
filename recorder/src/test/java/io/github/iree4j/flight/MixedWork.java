package io.github.iree4j.flight;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualOperation;
import io.github.iree4j.hal.virtual.VirtualScript;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Work of three devices with streams and unordered queues, short of memory, of several calls. An operation has up to
 * three signals, most on separate timelines; others, and the host, continue shared timelines in the order of the
 * values, with skipped values. Gates are signalled late, by the host. Some operations fail, and some gates. Recordings
 * are taken in between.
 */
final class MixedWork {
    private static final long PAGE = 4096;

    private final Random random;
    private final VirtualClock clock = VirtualClock.stepped();
    private final SchedulingDomain domain;
    private final List<VirtualDevice> devices = new ArrayList<>();
    private final List<TimelineSemaphore> timelines = new ArrayList<>();
    private final List<TimelineSemaphore> gates = new ArrayList<>();
    private final List<List<Fence.Entry>> ends = new ArrayList<>(); // the signals of each operation
    private final List<Shared> shared = new ArrayList<>();
    private final List<MemoryHolder> calls = new ArrayList<>();
    private final Deque<Allocated> allocated = new ArrayDeque<>();
    private final List<Buffer> buffers = new ArrayList<>();
    private final List<Fence> fences = new ArrayList<>();
    private final boolean fails;

    /** A timeline and its last value. */
    private static final class Shared {
        private final TimelineSemaphore timeline;
        private long last;

        Shared(TimelineSemaphore timeline) {
            this.timeline = timeline;
        }
    }

    private record Allocated(VirtualDevice device, Buffer buffer, Fence.Entry end) {}

    private final class Script implements VirtualScript {
        @Override
        public long duration(int queue, long number, QueueOperation operation) {
            return operation instanceof VirtualOperation ? 1 + random.nextInt(3000) : 0;
        }

        @Override
        public @Nullable IreeException failure(int queue, long number, QueueOperation operation) {
            return fails && operation instanceof VirtualOperation && random.nextInt(40) == 0
                    ? IreeException.of(StatusCode.DATA_LOSS, "as its script says")
                    : null;
        }
    }

    private MixedWork(Random random, FrontierTracker tracker) {
        this.random = random;
        this.fails = random.nextInt(3) == 0;
        this.domain = SchedulingDomain.create(AxisAllocator.create(3, 0), tracker, 2 + random.nextInt(30));
        Object group = new Object();
        for (int i = 0; i < 3; i++) {
            VirtualDevice.Builder builder = VirtualDevice.builder()
                    .id("device-" + i)
                    .clock(clock)
                    .script(new Script())
                    .schedulingDomain(domain)
                    .directGroup(random.nextInt(3) > 0 ? group : new Object())
                    .memoryLimit((16 + random.nextInt(64)) * PAGE);
            int kinds = random.nextInt(3);
            if (kinds != 1) {
                builder.fifoQueues(1 + random.nextInt(3));
            }
            if (kinds != 0) {
                builder.unorderedQueue(1 + random.nextInt(5));
            }
            devices.add(builder.build());
        }
        for (int i = random.nextInt(4); i > 0; i--) {
            shared.add(new Shared(timeline()));
        }
        for (int i = 0; i < 4; i++) {
            calls.add(new MemoryHolder("f" + i, new OperationsUnderWay("program")));
        }
    }

    /**
     * Records work.
     *
     * @param most the most operations, above 20
     * @param taken receives the recordings
     */
    static void record(long seed, int most, Consumer<FlightRecording> taken) throws IOException {
        FrontierTracker tracker = FrontierTracker.create();
        MixedWork work = new MixedWork(new Random(seed), tracker);
        try {
            work.run(most, taken);
        } finally {
            work.close();
            tracker.close();
        }
    }

    private void run(int most, Consumer<FlightRecording> taken) throws IOException {
        int count = 20 + random.nextInt(most - 20);
        int every = 1 + random.nextInt(Math.max(1, count / 3));
        try (FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now)) {
            for (int i = 0; i < count; i++) {
                submitInCall();
                if (random.nextInt(3) == 0) {
                    clock.runUntil(clock.now() + random.nextInt(2000));
                }
                if (random.nextInt(14) == 0) {
                    openGate();
                }
                if (random.nextInt(8) == 0) {
                    signalShared();
                }
                if (i % every == every - 1) {
                    taken.accept(recorder.recording());
                }
            }
            clock.runUntilIdle();
            taken.accept(recorder.recording());
            while (!gates.isEmpty()) {
                openGate();
                clock.runUntilIdle();
            }
            taken.accept(recorder.recording());
        }
    }

    private TimelineSemaphore timeline() {
        TimelineSemaphore own = TimelineSemaphore.create(0);
        timelines.add(own);
        return own;
    }

    private void signalShared() {
        for (Shared each : shared) {
            if (each.timeline.isReached(each.last)) {
                each.last += 1 + random.nextInt(2);
                each.timeline.signal(each.last);
            }
        }
    }

    private void openGate() {
        if (gates.isEmpty()) {
            return;
        }
        TimelineSemaphore gate = gates.remove(random.nextInt(gates.size()));
        if (fails && random.nextInt(4) == 0) {
            gate.fail(IreeException.of(StatusCode.CANCELLED, "cancelled"));
        } else {
            gate.signal(7);
        }
    }

    private void submitInCall() {
        if (random.nextInt(3) == 0) {
            submit();
            return;
        }
        MemoryHolder call = calls.get(random.nextInt(calls.size()));
        MemoryHolder before = call.enter();
        try {
            submit();
        } finally {
            call.leave(before);
        }
    }

    private void submit() {
        VirtualDevice device = devices.get(random.nextInt(devices.size()));
        DeviceQueue queue = device.queue(random.nextInt(device.queueCount()));
        List<Fence.Entry> waits = waits();
        List<Fence.Entry> signals = new ArrayList<>();
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            signals.add(new Fence.Entry(timeline(), 1 + random.nextInt(5)));
        }
        if (!shared.isEmpty() && random.nextInt(3) == 0) {
            signals.set(0, next(waits));
        }
        Fence signal = keep(Fence.of(signals));
        int kind = random.nextInt(6);
        if (kind == 0) {
            Buffer buffer = queue.alloca(
                    fence(waits),
                    signal,
                    BufferParams.DEFAULT,
                    (1 + random.nextInt(10)) * PAGE,
                    random.nextBoolean() ? DeviceQueue.ALLOCA_ALLOW_POOL_WAIT_FRONTIER : 0);
            buffers.add(buffer);
            allocated.add(new Allocated(device, buffer, signals.getFirst()));
        } else if (kind == 1 && !allocated.isEmpty()) {
            Allocated memory = allocated.remove();
            if (waits.stream().noneMatch(each -> each.semaphore().equals(memory.end.semaphore()))) {
                waits.add(memory.end);
            }
            memory.device
                    .queue(random.nextInt(memory.device.queueCount()))
                    .dealloca(fence(waits), signal, memory.buffer, 0);
        } else {
            device.submit(queue.index(), fence(waits), signal, new VirtualOperation("work"));
        }
        ends.add(signals);
    }

    /** Continues a shared timeline, after a wait for the last value. */
    private Fence.Entry next(List<Fence.Entry> waits) {
        Shared one = shared.get(random.nextInt(shared.size()));
        if (one.last > 0) {
            waits.removeIf(each -> each.semaphore().equals(one.timeline));
            waits.add(new Fence.Entry(one.timeline, one.last));
        }
        one.last += 1 + random.nextInt(2);
        return new Fence.Entry(one.timeline, one.last);
    }

    private List<Fence.Entry> waits() {
        List<Fence.Entry> waits = new ArrayList<>();
        Set<TimelineSemaphore> seen = new HashSet<>();
        for (int i = random.nextInt(5) == 0 ? random.nextInt(12) : random.nextInt(3); i > 0 && !ends.isEmpty(); i--) {
            int back = 1 + (int) Math.abs(random.nextGaussian() * 8);
            List<Fence.Entry> signals = ends.get(Math.max(0, ends.size() - back));
            Fence.Entry awaited = signals.get(random.nextInt(signals.size()));
            if (seen.add(awaited.semaphore())) {
                waits.add(awaited);
            }
        }
        if (random.nextInt(12) == 0) {
            TimelineSemaphore gate = timeline();
            gates.add(gate);
            waits.add(new Fence.Entry(gate, 1 + random.nextInt(3)));
        }
        return waits;
    }

    private @Nullable Fence fence(List<Fence.Entry> entries) {
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
