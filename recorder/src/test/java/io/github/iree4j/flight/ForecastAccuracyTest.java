package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.flight.Forecast.Hardware;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.virtual.VirtualClock;
import io.github.iree4j.hal.virtual.VirtualDevice;
import io.github.iree4j.hal.virtual.VirtualScript;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * The forecast of a recording with more queues beside a second run of the same work with these queues: calls of
 * operations that wait for each other, within a call and between calls; the submitting thread waits for the end of some
 * calls, and then closes the results.
 */
class ForecastAccuracyTest {
    private static final int RUNS = Effort.rounds(1_000);

    /**
     * An operation: the nanoseconds, the earlier operations waited for, of any call, and the bytes of the result; 0 for
     * none.
     */
    private record Step(long duration, List<Integer> waits, long bytes) {}

    /** A call: the operations, by number in the work, and whether the thread waits for the last. */
    private record Call(int first, int count, boolean isAwaited) {}

    private record Work(List<Step> steps, List<Call> calls) {
        static Work random(Random random) {
            List<Step> steps = new ArrayList<>();
            List<Call> calls = new ArrayList<>();
            int count = 2 + random.nextInt(random.nextInt(10) == 0 ? 200 : 9);
            for (int call = 0; call < count; call++) {
                int first = steps.size();
                int length = 1 + random.nextInt(5);
                for (int i = 0; i < length; i++) {
                    List<Integer> waits = new ArrayList<>();
                    if (i > 0 && random.nextInt(5) > 0) {
                        waits.add(steps.size() - 1);
                    }
                    if (first > 0 && random.nextInt(5) == 0) {
                        waits.add(random.nextInt(first));
                    }
                    steps.add(new Step(
                            1 + random.nextInt(100_000_000),
                            waits,
                            random.nextInt(3) == 0 ? 1 + random.nextInt(256 << 10) : 0));
                }
                calls.add(new Call(first, length, random.nextInt(3) == 0));
            }
            return new Work(steps, calls);
        }

        /** Runs the work on a number of streams, each call on the stream with the least work so far. */
        FlightRecording run(int queues) throws IOException {
            VirtualClock clock = VirtualClock.stepped();
            List<List<Long>> durations = new ArrayList<>(); // by stream, in the order of submission
            for (int i = 0; i < queues; i++) {
                durations.add(new ArrayList<>());
            }
            VirtualScript script = new VirtualScript() {
                @Override
                public long duration(int queue, long number, QueueOperation operation) {
                    return durations.get(queue).get((int) number - 1);
                }
            };
            List<AutoCloseable> opened = new ArrayList<>();
            try (FrontierTracker tracker = FrontierTracker.create()) {
                SchedulingDomain domain =
                        SchedulingDomain.create(AxisAllocator.create(4, 0), tracker, Frontier.DEFAULT_CAPACITY);
                try (VirtualDevice device = VirtualDevice.builder()
                                .clock(clock)
                                .script(script)
                                .schedulingDomain(domain)
                                .fifoQueues(queues)
                                .build();
                        FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS, clock::now)) {
                    submit(device, clock, durations, opened);
                    clock.runUntilIdle();
                    return recorder.recording();
                }
            } finally {
                for (AutoCloseable each : opened) {
                    closeQuietly(each);
                }
            }
        }

        private void submit(
                VirtualDevice device, VirtualClock clock, List<List<Long>> durations, List<AutoCloseable> opened) {
            List<TimelineSemaphore> timelines = new ArrayList<>(); // of each operation
            Map<Buffer, TimelineSemaphore> results = new LinkedHashMap<>(); // not closed by the host yet
            for (Call call : calls) {
                int queue = least(durations);
                MemoryHolder holder = new MemoryHolder("m.f", new OperationsUnderWay());
                MemoryHolder before = holder.enter();
                for (Step step : steps.subList(call.first, call.first + call.count)) {
                    TimelineSemaphore timeline = TimelineSemaphore.create(0);
                    Fence signal = Fence.at(timeline, 1);
                    List<Fence.Entry> points = step.waits.stream()
                            .map(each -> new Fence.Entry(timelines.get(each), 1))
                            .toList();
                    Fence wait = points.isEmpty() ? null : Fence.of(points);
                    opened.addAll(wait == null ? List.of(signal, timeline) : List.of(signal, timeline, wait));
                    timelines.add(timeline);
                    durations.get(queue).add(step.duration);
                    if (step.bytes == 0) {
                        device.queue(queue).barrier(wait, signal, 0);
                    } else {
                        Buffer result = device.queue(queue).alloca(wait, signal, BufferParams.DEFAULT, step.bytes, 0);
                        results.put(result, timeline);
                        opened.add(result);
                    }
                }
                holder.leave(before);
                while (call.isAwaited && !timelines.getLast().isReached(1)) {
                    clock.step();
                }
                results.entrySet().removeIf(each -> {
                    boolean closes = call.isAwaited && each.getValue().isReached(1);
                    if (closes) {
                        each.getKey().close();
                    }
                    return closes;
                });
            }
        }

        private static int least(List<List<Long>> durations) {
            int least = 0;
            for (int i = 1; i < durations.size(); i++) {
                least = sum(durations.get(i)) < sum(durations.get(least)) ? i : least;
            }
            return least;
        }

        private static long sum(List<Long> all) {
            return all.stream().mapToLong(Long::longValue).sum();
        }

        private static void closeQuietly(AutoCloseable each) {
            try {
                each.close();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }

    @Test
    void aForecastIsWithinItsErrorOfASecondRunWithTheForecastHardware() throws IOException {
        long seed = Effort.seed(ForecastAccuracyTest.class, "work", 1);
        int within = 0;
        double worst = 0;
        for (int i = 0; i < RUNS; i++) {
            Random random = new Random(seed + i);
            Work work = Work.random(random);
            int queues = 2 + random.nextInt(3);
            Forecast forecast = Forecast.of(work.run(1), new Hardware(queues, 1, 100));
            long real = Forecast.of(work.run(queues), Hardware.RECORDED).recorded();
            double off = Math.max(real - forecast.longest(), forecast.shortest() - real) / (double) real;
            within += off <= forecast.modelError() + 1e-9 ? 1 : 0;
            worst = Math.max(worst, off - forecast.modelError());
        }
        System.out.printf(
                "forecasts: %d of %d within their error of the second run, beyond it by %.3f at most%n",
                within, RUNS, worst);
        assertThat(within).as("seed %d", seed).isGreaterThanOrEqualTo((int) Math.ceil(0.95 * RUNS));
    }
}
