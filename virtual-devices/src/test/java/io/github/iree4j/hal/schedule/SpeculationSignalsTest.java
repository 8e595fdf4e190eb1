package io.github.iree4j.hal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.virtual.VirtualDevice;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How little is kept of the values of a timeline. */
class SpeculationSignalsTest {
    @Test
    void acceptedValuesAreASingleRangeInAnyNumberAndOrder() {
        try (FrontierTracker tracker = FrontierTracker.create();
                VirtualDevice device = VirtualDevice.builder().build();
                TimelineSemaphore timeline = TimelineSemaphore.create(0)) {
            QueueScheduler scheduler = QueueScheduler.create(
                    SchedulingDomain.create(AxisAllocator.create(9, 0), tracker, Frontier.DEFAULT_CAPACITY),
                    device,
                    device,
                    new RecordingStream() {});
            SpeculationSignals signals = new SpeculationSignals(scheduler.axis());
            List<SpeculationGraph.Node> speculative = new ArrayList<>();
            for (int i = 1; i <= 1000; i++) {
                SpeculationGraph.Node node = new SpeculationGraph.Node(scheduler, new Nothing(), List.of(), List.of());
                node.draft = i % 10 == 0 ? i : 0;
                signals.declare(3L * i, node);
                timeline.signal(3L * i - 1);
                timeline.signal(3L * i, Frontier.producedBy(scheduler.axis(), i));
                signals.over(timeline, 3L * i, node, false, 0);
                node.operation = null;
                if (node.draft > 0) {
                    speculative.add(node);
                }
            }
            assertThat(signals.isForgotten(3 * 11)).isTrue();
            assertThat(signals.isForgotten(3 * 10)).isFalse();
            assertThat(signals.reached(3 * 10 - 2, 3000)).isSameAs(speculative.getFirst());
            assertThat(signals.size())
                    .as("speculative values, a range between each, and the timeline's memory")
                    .isBetween(200, 220);
            signals.forget(timeline, 500);
            assertThat(signals.isForgotten(3 * 500)).isTrue();
            assertThat(signals.size()).isBetween(100, 120);
            signals.forget(timeline, 1000);
            assertThat(signals.isForgotten(1)).isTrue();
            assertThat(signals.isForgotten(3000)).isTrue();
            assertThat(signals.size()).isEqualTo(1);
        }
    }
}
