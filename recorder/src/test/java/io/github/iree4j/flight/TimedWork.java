package io.github.iree4j.flight;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualOperation;
import io.github.iree4j.hal.virtual.VirtualScript;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * Operations on streams and an unordered queue of a virtual device, with times known to the device; some are behind
 * signals of the host.
 */
final class TimedWork {
    final VirtualClock clock = VirtualClock.stepped();
    final Map<String, Long> durations = new HashMap<>();
    final Map<String, Long> starts = new HashMap<>();
    final Map<String, Long> ready = new HashMap<>(); // when the host signalled
    final Map<String, List<String>> before = new HashMap<>(); // awaited operations, and signals of the host
    final SchedulingDomain domain = SchedulingDomain.create(AxisAllocator.create(3, 0), FrontierTracker.create(), 12);
    final VirtualDevice device = VirtualDevice.builder()
            .id("gpu")
            .clock(clock)
            .schedulingDomain(domain)
            .script(new VirtualScript() {
                @Override
                public void starts(int queue, long number, QueueOperation operation, int lane) {
                    starts.put(operation.name(), clock.now());
                }

                @Override
                public long duration(int queue, long number, QueueOperation operation) {
                    return durations.get(operation.name());
                }
            })
            .fifoQueues(3)
            .unorderedQueue(2)
            .build();

    void submit(int queue, String name, long duration, Fence wait, Fence signal) {
        durations.put(name, duration);
        device.submit(queue, wait, signal, new VirtualOperation(name));
    }

    long end(String name) {
        return ready.containsKey(name) ? ready.get(name) : starts.get(name) + durations.get(name);
    }

    long readyAt(RecordedOperation operation) {
        return before.getOrDefault(operation.name(), List.of()).stream()
                .mapToLong(this::end)
                .reduce(operation.submittedAt(), Math::max);
    }

    /** Runs random operations, with a timeline each. */
    void run(Random random, int operations) {
        Map<String, TimelineSemaphore> points = new HashMap<>(); // of operations, and of the host
        List<String> names = new ArrayList<>();
        List<String> open = new ArrayList<>(); // signals owed by the host
        for (int i = 0; i < operations; i++) {
            if (random.nextInt(8) == 0) {
                names.add("host " + i);
                open.add("host " + i);
                points.put("host " + i, TimelineSemaphore.create(0));
            }
            Set<String> waits = new HashSet<>();
            for (int w = random.nextInt(4); w > 0 && !names.isEmpty(); w--) {
                waits.add(names.get(random.nextInt(names.size())));
            }
            String name = "operation " + i;
            names.add(name);
            points.put(name, TimelineSemaphore.create(0));
            before.put(name, List.copyOf(waits));
            Fence wait = Fence.joinNullable(
                    waits.stream().map(each -> Fence.at(points.get(each), 1)).toList());
            submit(random.nextInt(4), name, 1 + random.nextInt(3000), wait, Fence.at(points.get(name), 1));
            if (random.nextInt(3) == 0) {
                clock.runUntil(clock.now() + random.nextInt(2000));
            }
            if (random.nextInt(10) == 0) {
                signal(points, open);
            }
        }
        signal(points, open);
        clock.runUntilIdle();
    }

    private void signal(Map<String, TimelineSemaphore> points, List<String> open) {
        for (String each : open) {
            ready.put(each, clock.now());
            points.get(each).signal(1);
        }
        open.clear();
    }
}
