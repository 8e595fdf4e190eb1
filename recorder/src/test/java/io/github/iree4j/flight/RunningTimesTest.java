package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
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
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The parts of the time of an operation are as the virtual devices know them, even where the host learns of several ends together. */
class RunningTimesTest {
    private static final long SEED = Effort.seed(20261130);

    /** Operations on streams and an unordered queue, some behind the host's signals. */
    private static final class Work {
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
    }

    @Test
    void anOperationEndsWhenTheNextOnTheStreamBegins() throws IOException {
        Work work = new Work();
        TimelineSemaphore host = TimelineSemaphore.create(0);
        TimelineSemaphore done = TimelineSemaphore.create(0);
        try (FlightRecorder recorder = FlightRecorder.open(work.domain, RecorderOptions.DEFAULT, work.clock::now)) {
            work.submit(0, "first", 1000, Fence.at(host, 1), Fence.at(done, 1));
            work.submit(0, "second", 1500, Fence.at(done, 1), Fence.at(done, 2));
            host.signal(1);
            work.clock.runUntilIdle();
            OperationGraph graph = new OperationGraph(recorder.recording());
            Explanation explanation = new Explanation(graph);
            RecordedOperation first = graph.operations().getFirst();
            RecordedOperation second = graph.operations().getLast();
            assertThat(first.completedAt()).as("learnt together").isEqualTo(second.completedAt());
            assertThat(explanation.times(first)).isEqualTo(new Explanation.Times(0, 0, 0, 1000));
            assertThat(explanation.times(second)).isEqualTo(new Explanation.Times(1000, 0, 0, 1500));
            assertThat(CriticalPath.of(graph).steps())
                    .extracting(CriticalPath.Step::operation)
                    .containsExactly(first, second);
            ByteArrayOutputStream scenario = new ByteArrayOutputStream();
            ExportFormat.SCENARIO.write(graph, scenario);
            assertThat(scenario.toString(StandardCharsets.UTF_8))
                    .contains("duration: 1000")
                    .contains("duration: 1500");
        }
    }

    @Test
    void timesAreThoseOfTheDevices() throws IOException {
        int together = 0;
        for (long seed = SEED; seed < SEED + Effort.rounds(100); seed++) {
            Random random = new Random(seed);
            Work work = new Work();
            try (FlightRecorder recorder = FlightRecorder.open(work.domain, RecorderOptions.DEFAULT, work.clock::now)) {
                Map<String, TimelineSemaphore> points = new HashMap<>(); // of operations, and of the host
                List<String> open = new ArrayList<>(); // signals that the host owes
                for (int i = 0; i < 60; i++) {
                    if (random.nextInt(8) == 0) {
                        points.put("host " + i, TimelineSemaphore.create(0));
                        open.add("host " + i);
                    }
                    List<String> names = List.copyOf(points.keySet());
                    Set<String> waits = new HashSet<>();
                    for (int w = random.nextInt(4); w > 0 && !names.isEmpty(); w--) {
                        waits.add(names.get(random.nextInt(names.size())));
                    }
                    String name = "operation " + i;
                    points.put(name, TimelineSemaphore.create(0));
                    work.before.put(name, List.copyOf(waits));
                    Fence wait = Fence.join(waits.stream()
                            .map(each -> Fence.at(points.get(each), 1))
                            .toList());
                    work.submit(random.nextInt(4), name, 1 + random.nextInt(3000), wait, Fence.at(points.get(name), 1));
                    if (random.nextInt(3) == 0) {
                        work.clock.runUntil(work.clock.now() + random.nextInt(2000));
                    }
                    if (random.nextInt(10) == 0) {
                        signal(work, points, open);
                    }
                }
                signal(work, points, open);
                work.clock.runUntilIdle();
                OperationGraph graph = new OperationGraph(recorder.recording());
                Explanation explanation = new Explanation(graph);
                for (RecordedOperation each : graph.operations()) {
                    Explanation.Times times = explanation.times(each);
                    assertThat(times.running())
                            .as("seed %d, %s", seed, explanation.explain(each))
                            .isEqualTo(work.durations.get(each.name()));
                    assertThat(times.waiting())
                            .as("seed %d, %s", seed, explanation.explain(each))
                            .isEqualTo(work.readyAt(each) - each.submittedAt());
                    together += each.completedAt() > graph.end(each) ? 1 : 0;
                }
            }
        }
        assertThat(together).isPositive();
    }

    private static void signal(Work work, Map<String, TimelineSemaphore> points, List<String> open) {
        for (String each : open) {
            work.ready.put(each, work.clock.now());
            points.get(each).signal(1);
        }
        open.clear();
    }
}
