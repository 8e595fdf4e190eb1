package io.github.iree4j.hal.virtual;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Claims about lanes shared by queues. */
class VirtualLanesTest {
    private final VirtualClock clock = VirtualClock.stepped();
    private final List<String> starts = new ArrayList<>();
    private final List<VirtualDevice> devices = new ArrayList<>();
    private final TimelineSemaphore failures = TimelineSemaphore.create(0);

    /** Two ticks each; operations are ranked by name. */
    private final VirtualScript script = new VirtualScript() {
        @Override
        public long rank(int queue, long number, QueueOperation operation) {
            return operation.name().charAt(0);
        }

        @Override
        public void starts(int queue, long number, QueueOperation operation, int lane) {
            starts.add("%s@%d on %d".formatted(operation.name(), clock.now(), lane));
        }

        @Override
        public long duration(int queue, long number, QueueOperation operation) {
            return operation.name().equals("zero") ? 0 : 2;
        }
    };

    private VirtualDevice device(int queues, VirtualLanes lanes) {
        VirtualDevice device = VirtualDevice.builder()
                .clock(clock)
                .script(script)
                .fifoQueues(queues, lanes)
                .build();
        devices.add(device);
        return device;
    }

    @AfterEach
    void close() {
        devices.forEach(VirtualDevice::close);
        failures.close();
    }

    @Test
    void workReadyAtOnceStartsByRank() {
        VirtualDevice device = device(3, VirtualLanes.create(clock, 2));
        device.submit(0, null, null, new VirtualOperation("c"));
        device.submit(1, null, null, new VirtualOperation("b"));
        device.submit(2, null, null, new VirtualOperation("a"));
        clock.runUntilIdle();
        assertThat(starts).containsExactly("a@0 on 0", "b@0 on 1", "c@2 on 0");
    }

    @Test
    void lanesAreGivenOnceAllEndsOfATickAreSeen() {
        VirtualDevice device = device(4, VirtualLanes.create(clock, 2));
        device.submit(0, null, null, new VirtualOperation("x"));
        device.submit(1, null, null, new VirtualOperation("y"));
        device.submit(0, null, null, new VirtualOperation("p"));
        device.submit(1, null, null, new VirtualOperation("o"));
        device.submit(2, null, null, new VirtualOperation("z"));
        clock.runUntilIdle();
        assertThat(starts).containsExactly("x@0 on 0", "y@0 on 1", "o@2 on 0", "p@2 on 1", "z@4 on 0");
    }

    @Test
    void operationsWithoutDurationFollowEachOtherWithinATick() {
        VirtualDevice device = device(2, VirtualLanes.create(clock, 1));
        for (int i = 0; i < 3; i++) {
            device.submit(0, null, null, new VirtualOperation("zero"));
        }
        device.submit(1, null, null, new VirtualOperation("~"));
        clock.runUntilIdle();
        assertThat(starts).hasSize(4).allMatch(each -> each.endsWith("@0 on 0"));
    }

    @Test
    void devicesShareLanesAndAQueueKeepsItsOrder() {
        VirtualLanes lanes = VirtualLanes.create(clock, 1);
        VirtualDevice first = device(1, lanes);
        VirtualDevice second = device(1, lanes);
        first.submit(0, null, null, new VirtualOperation("d"));
        first.submit(0, null, null, new VirtualOperation("a"));
        second.submit(0, null, null, new VirtualOperation("b"));
        clock.runUntilIdle();
        assertThat(starts).containsExactly("b@0 on 0", "d@2 on 0", "a@4 on 0");
    }

    @Test
    void aLostDeviceLeavesItsLanesToOthers() {
        VirtualLanes lanes = VirtualLanes.create(clock, 1);
        VirtualDevice first = device(2, lanes);
        VirtualDevice second = device(1, lanes);
        try (Fence signal = Fence.at(failures, 1)) {
            first.submit(0, null, signal, new VirtualOperation("a"));
        }
        try (Fence signal = Fence.at(failures, 2)) {
            first.submit(1, null, signal, new VirtualOperation("b"));
        }
        second.submit(0, null, null, new VirtualOperation("c"));
        clock.runUntil(1);
        first.lose(IreeException.of(StatusCode.UNAVAILABLE, "gone"));
        clock.runUntilIdle();
        assertThat(starts).containsExactly("a@0 on 0", "c@1 on 0");
        assertThat(failures.failure()).hasMessageContaining("gone");
    }

    @Test
    void theNumberOfLanesIsChecked() {
        assertThatThrownBy(() -> VirtualLanes.create(clock, 0))
                .hasMessageContaining("0 lanes are not within [1, 1024]");
        assertThatThrownBy(() -> VirtualLanes.create(clock, 1025)).hasMessageContaining("1025 lanes");
    }
}
