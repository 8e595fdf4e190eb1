package io.github.iree4j.hal.virtual;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class FailuresInOrderTest {
    private static final IreeException FAILURE = IreeException.of(StatusCode.DATA_LOSS, "failed on purpose");

    /** The report of a later operation's success, by another thread, would be a report of success of the failed operation too. */
    @Test
    void aFailureIsReportedBeforeTheNextOperationOfTheStreamBegins() {
        VirtualClock clock = VirtualClock.stepped();
        List<@Nullable IreeException> seen = new ArrayList<>();
        try (TimelineSemaphore first = TimelineSemaphore.create(0);
                TimelineSemaphore second = TimelineSemaphore.create(0);
                VirtualDevice device = VirtualDevice.builder()
                        .clock(clock)
                        .fifoQueues(1)
                        .script(new VirtualScript() {
                            @Override
                            public void starts(int queue, long number, QueueOperation operation, int lane) {
                                seen.add(first.failure());
                            }

                            @Override
                            public @Nullable IreeException failure(int queue, long number, QueueOperation operation) {
                                return number == 1 ? FAILURE : null;
                            }
                        })
                        .build();
                Fence failed = Fence.at(first, 1);
                Fence done = Fence.at(second, 1)) {
            device.queue(0).barrier(null, failed, 0);
            device.queue(0).barrier(null, done, 0);
            clock.runUntilIdle();
            assertThat(seen).containsExactly(null, FAILURE);
            assertThat(second.value()).isEqualTo(1);
        }
    }
}
