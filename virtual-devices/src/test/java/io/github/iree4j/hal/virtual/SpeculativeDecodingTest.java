package io.github.iree4j.hal.virtual;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.Timeline;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.schedule.SpeculationScope;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The speculative decoding of the seeds (scenario 8), with a queue for each timeline, for axes that correspond to the
 * scenario's semaphores:
 *
 * <pre>
 *   prefill    K  4 ticks                     K:1
 *   draft_r1   D  2 ticks  after K:1          D:1 K:1
 *   verify_r1  V  2 ticks  after D:1          D:1 K:1 V:1
 *   draft_r2   D  2 ticks  after D:1          D:2 K:1          runs ahead: no V
 *   verify_r2  V  2 ticks  after D:2, V:1     D:2 K:1 V:2
 *   output     K  1 tick   after V:2          D:2 K:2 V:2
 * </pre>
 */
class SpeculativeDecodingTest {
    private static final int K = 0;
    private static final int D = 1;
    private static final int V = 2;
    private static final String AXES = "KDV";

    private final VirtualClock clock = VirtualClock.stepped();
    private final FrontierTracker tracker = FrontierTracker.create();
    private final List<AutoCloseable> toClose = new ArrayList<>();
    private final Map<String, Long> ends = new LinkedHashMap<>();
    private final Map<String, Fence> done = new LinkedHashMap<>();
    private final Map<String, Frontier> promised = new LinkedHashMap<>();
    private final VirtualDevice device = VirtualDevice.builder()
            .clock(clock)
            .schedulingDomain(SchedulingDomain.create(AxisAllocator.create(11, 0), tracker, Frontier.DEFAULT_CAPACITY))
            .fifoQueues(3)
            .script(new VirtualScript() {
                @Override
                public long duration(int queue, long number, QueueOperation operation) {
                    return queue == K ? number == 1 ? 4 : 1 : 2;
                }
            })
            .build();
    private final Timeline[] timelines = {Timeline.create(), Timeline.create(), Timeline.create()};
    private final SpeculationScope scope = SpeculationScope.open(device.queue(D), device.queue(V));

    @AfterEach
    void closeAll() throws Exception {
        scope.close();
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
        for (Timeline each : timelines) {
            each.close();
        }
        device.close();
        tracker.close();
    }

    private Fence at(int timeline, long value) {
        Fence fence = timelines[timeline].at(value);
        toClose.add(fence);
        return fence;
    }

    private void run(String name, int queue, long value, Fence... waits) {
        Fence wait = waits.length == 0 ? null : Fence.joinNullable(List.of(waits));
        if (wait != null) {
            toClose.add(wait);
        }
        Fence signal = at(queue, value);
        device.queue(queue).barrier(wait, signal, 0);
        signal.whenReached(failure -> ends.put(name, clock.now()));
        done.put(name, signal);
        Frontier frontier = timelines[queue].semaphore().frontierAt(value);
        assertThat(frontier).as("%s is promised before anything runs", name).isNotNull();
        promised.put(name, frontier);
    }

    private void submit() {
        run("prefill", K, 1);
        run("draft_r1", D, 1, at(K, 1));
        run("verify_r1", V, 1, at(D, 1));
        run("draft_r2", D, 2, at(D, 1));
        run("verify_r2", V, 2, at(D, 2), at(V, 1));
        run("output", K, 2, at(V, 2));
    }

    private String text(Frontier frontier) {
        StringBuilder text = new StringBuilder();
        for (int axis : new int[] {D, K, V}) {
            long epoch = frontier.epochOf(device.queue(axis).axis());
            if (epoch > 0) {
                text.append(text.isEmpty() ? "" : " ")
                        .append(AXES.charAt(axis))
                        .append(':')
                        .append(epoch);
            }
        }
        return text.toString();
    }

    @Test
    void ticksAndFrontiersMatchTheScenario() {
        submit();
        Map<String, String> frontiers = new LinkedHashMap<>();
        promised.forEach((name, frontier) -> frontiers.put(name, text(frontier)));
        assertThat(frontiers)
                .containsExactly(
                        Map.entry("prefill", "K:1"),
                        Map.entry("draft_r1", "D:1 K:1"),
                        Map.entry("verify_r1", "D:1 K:1 V:1"),
                        Map.entry("draft_r2", "D:2 K:1"),
                        Map.entry("verify_r2", "D:2 K:1 V:2"),
                        Map.entry("output", "D:2 K:2 V:2"));
        clock.runUntilIdle();
        assertThat(ends)
                .containsOnly(
                        Map.entry("prefill", 4L),
                        Map.entry("draft_r1", 6L),
                        Map.entry("verify_r1", 8L),
                        Map.entry("draft_r2", 8L),
                        Map.entry("verify_r2", 10L),
                        Map.entry("output", 11L));
    }

    /**
     * For each tick and each epoch: an operation is cancelled if incomplete, with D at or beyond the epoch, and without
     * a V that has seen the epoch.
     */
    @Test
    void aRejectionAtAnyTickCancelsAsTheFrontiersOfTheScenarioDo() {
        int[] counts = new int[3];
        for (int tick = 0; tick <= 11; tick++) {
            for (long rejected = 1; rejected <= 2; rejected++) {
                SpeculativeDecodingTest test = new SpeculativeDecodingTest();
                try {
                    counts[(int) rejected] += test.rejectsAt(tick, rejected);
                    test.closeAll();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }
        }
        assertThat(counts[1]).as("both drafts until tick 6, the second until 8").isEqualTo(2 * 6 + 2);
        assertThat(counts[2]).as("the second draft until tick 8").isEqualTo(8);
    }

    private int rejectsAt(int tick, long rejected) {
        submit();
        clock.runUntil(tick);
        List<String> cancelled = new ArrayList<>();
        promised.forEach((name, frontier) -> {
            long draft = frontier.epochOf(device.queue(D).axis());
            long verifier = frontier.epochOf(device.queue(V).axis()); // V:n has verified D:n
            if (!ends.containsKey(name) && draft >= rejected && verifier < rejected) {
                cancelled.add(name);
            }
        });
        assertThat(scope.epochAt(timelines[D].semaphore(), rejected)).isEqualTo(rejected);
        assertThat(scope.reject(scope.epochAt(timelines[D].semaphore(), rejected)))
                .as("rejected %d at %d", rejected, tick)
                .isEqualTo(cancelled.size());
        clock.runUntilIdle();
        for (Map.Entry<String, Fence> each : done.entrySet()) {
            boolean lost = switch (each.getKey()) {
                case "prefill" -> false;
                case "draft_r1", "verify_r1" -> cancelled.contains("draft_r1"); // awaited by verify_r1
                default -> !cancelled.isEmpty();
            };
            assertThat(each.getValue().failure().isPresent()
                            && each.getValue().semaphore(0).value()
                                    < each.getValue().value(0))
                    .as("%s, rejected %d at %d, cancelled %s", each.getKey(), rejected, tick, cancelled)
                    .isEqualTo(lost);
        }
        return cancelled.size();
    }

    @Test
    void acceptedWorkIsFoundByTheValueOfTheDraft() {
        submit();
        assertThat(scope.epochAt(timelines[D].semaphore(), 2)).as("promised").isEqualTo(2);
        assertThat(scope.epochAt(timelines[D].semaphore(), 3))
                .as("without a signaller")
                .isZero();
        assertThat(scope.epochAt(timelines[K].semaphore(), 1)).as("no draft").isZero();
        clock.runUntil(8);
        scope.accept(scope.epochAt(timelines[D].semaphore(), 1));
        assertThat(scope.accepted()).isEqualTo(1);
        assertThat(scope.reject(scope.epochAt(timelines[D].semaphore(), 2)))
                .as("the second draft is complete, and the waiter verifies")
                .isZero();
        clock.runUntilIdle();
        assertThat(done.get("output").isReached()).isTrue();
    }
}
