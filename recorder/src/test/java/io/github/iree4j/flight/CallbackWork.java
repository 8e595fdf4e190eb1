package io.github.iree4j.flight;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualScript;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Work continued by callbacks of an application: each signals timelines once others reach a value, several timelines
 * per callback, in chains, and for several waiters of the same value; and, if asked for, submits operations.
 */
final class CallbackWork {
    private final Random random;
    private final boolean submits; // in callbacks
    private final VirtualClock clock = VirtualClock.stepped();
    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain;
    private final List<VirtualDevice> devices = new ArrayList<>();
    private final List<DeviceQueue> queues = new ArrayList<>();
    private final List<TimelineSemaphore> timelines = new ArrayList<>();
    private final List<Fence> fences = new ArrayList<>();

    private final class Script implements VirtualScript {
        private final boolean late = random.nextBoolean();

        @Override
        public long duration(int queue, long number, QueueOperation operation) {
            return 1 + random.nextInt(2000);
        }

        @Override
        public long completionDelay(int queue, long number, QueueOperation operation) {
            return late && random.nextInt(3) == 0 ? random.nextInt(1500) : 0;
        }
    }

    private CallbackWork(Random random, boolean submits) {
        this.random = random;
        this.submits = submits;
        this.domain = SchedulingDomain.create(AxisAllocator.create(5, 0), tracker, random.nextBoolean() ? 8 : 64);
        Object group = new Object();
        for (int i = 0; i < 2; i++) {
            VirtualDevice.Builder builder = VirtualDevice.builder()
                    .id("device-" + i)
                    .clock(clock)
                    .script(new Script())
                    .schedulingDomain(domain)
                    .directGroup(random.nextBoolean() ? group : new Object())
                    .fifoQueues(1 + random.nextInt(2));
            if (random.nextInt(3) == 0) {
                builder.unorderedQueue(2);
            }
            VirtualDevice device = builder.build();
            devices.add(device);
            for (int q = 0; q < device.queueCount(); q++) {
                queues.add(device.queue(q));
            }
        }
    }

    /**
     * Records work.
     *
     * @param steps the number of operations and callbacks, without operations submitted by callbacks
     * @param virtual whether times of the recording come from the virtual clock, rather than from the host's clock
     * @param submits whether callbacks also submit operations
     */
    static FlightRecording record(long seed, int steps, boolean virtual, boolean submits) throws IOException {
        CallbackWork work = new CallbackWork(new Random(seed), submits);
        try (FlightRecorder recorder = virtual
                ? FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS, work.clock::now)
                : FlightRecorder.open(work.domain, RecorderOptions.DEFAULTS)) {
            for (int i = 0; i < steps; i++) {
                work.step();
            }
            work.clock.runUntilIdle();
            return recorder.recording();
        } finally {
            work.close();
        }
    }

    private void step() {
        switch (random.nextInt(6)) {
            case 0 -> {
                TimelineSemaphore own = timeline();
                clock.schedule(random.nextInt(6000), () -> own.signal(1 + random.nextInt(2)));
            }
            case 1, 2 -> callback();
            default -> operation(timeline());
        }
        for (int steps = random.nextInt(3); steps > 0; steps--) {
            clock.step();
        }
    }

    private TimelineSemaphore timeline() {
        TimelineSemaphore own = TimelineSemaphore.create(0);
        timelines.add(own);
        return own;
    }

    private @Nullable TimelineSemaphore earlier(int before) {
        return before == 0 ? null : timelines.get(Math.max(0, before - 1 - random.nextInt(12)));
    }

    private void callback() {
        TimelineSemaphore trigger = earlier(timelines.size());
        List<TimelineSemaphore> own = new ArrayList<>();
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            own.add(timeline());
        }
        boolean submitsOne = submits && random.nextBoolean();
        if (trigger == null) {
            own.forEach(each -> each.signal(1));
            return;
        }
        trigger.whenReached(1, (value, failure) -> {
            for (int i = 0; i < own.size(); i++) {
                if (i == 0 && submitsOne) {
                    operation(own.get(i));
                } else {
                    own.get(i).signal(1);
                }
            }
        });
    }

    private void operation(TimelineSemaphore own) {
        int before = timelines.indexOf(own);
        List<Fence.Entry> waits = new ArrayList<>();
        for (int w = random.nextInt(5); w > 0; w--) {
            TimelineSemaphore each = earlier(before);
            if (each != null) {
                waits.add(new Fence.Entry(each, 1));
            }
        }
        Fence wait = waits.isEmpty() ? null : keep(Fence.of(waits));
        queues.get(random.nextInt(queues.size())).barrier(wait, keep(Fence.at(own, 1)), 0);
    }

    private Fence keep(Fence fence) {
        fences.add(fence);
        return fence;
    }

    private void close() {
        devices.forEach(VirtualDevice::close);
        fences.forEach(Fence::close);
        timelines.forEach(TimelineSemaphore::close);
        tracker.close();
    }
}
