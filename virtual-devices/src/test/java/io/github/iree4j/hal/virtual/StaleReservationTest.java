package io.github.iree4j.hal.virtual;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.schedule.QueueOperation;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Memory reserved because of a promise is safe for an operation with an actual wait for the maker of the promise. An
 * allocation that waited in line meanwhile may not: a lower value ends the wait.
 */
class StaleReservationTest {
    private static final int HALF = 16 << 10;
    private static final long SLOW = 1_000;
    private static final byte OWN = 7;

    private final VirtualClock clock = VirtualClock.stepped();
    private final List<AutoCloseable> toClose = new ArrayList<>();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
    }

    private <T extends AutoCloseable> T closed(T resource) {
        toClose.add(resource);
        return resource;
    }

    private Fence at(TimelineSemaphore timeline, long value) {
        return closed(Fence.at(timeline, value));
    }

    private Buffer alloca(DeviceQueue queue, Fence wait, Fence signal, long size) {
        return closed(queue.alloca(wait, signal, BufferParams.DEFAULT, size, 0));
    }

    @Test // PREM-1
    void memoryReservedOnAPromiseIsNotUsedBeforeItsLastUserOnceTheWaitEndedWithALowerValue() {
        VirtualDevice device = closed(VirtualDevice.builder()
                .clock(clock)
                .fifoQueues(2)
                .unorderedQueue(1)
                .memoryLimit(2 * HALF)
                .script(new VirtualScript() {
                    @Override
                    public long duration(int queue, long number, QueueOperation operation) {
                        return queue == 0 && operation.name().equals("fill") ? SLOW : 1;
                    }
                })
                .build());
        TimelineSemaphore first = closed(TimelineSemaphore.create(0));
        TimelineSemaphore gate = closed(TimelineSemaphore.create(0));
        TimelineSemaphore own = closed(TimelineSemaphore.create(0));

        // All memory, in a single piece: one half is freed behind a long fill, the other soon.
        DeviceQueue producer = device.queue(0);
        alloca(producer, at(first, 0), at(first, 1), 2 * HALF).close();
        Buffer freed = alloca(producer, at(first, 1), at(first, 2), HALF);
        Buffer kept = alloca(producer, at(first, 2), at(first, 3), HALF);
        clock.runUntilIdle();
        producer.fill(at(first, 3), at(first, 4), freed, 0, Buffer.WHOLE, 1, 1, 0);
        producer.dealloca(at(first, 4), at(first, 5), freed, 0);
        producer.barrier(at(first, 5), at(gate, 2), 0); // promises a value above the wait below
        TimelineSemaphore soon = closed(TimelineSemaphore.create(0));
        device.queue(2).barrier(null, at(soon, 1), 0);
        device.queue(2).dealloca(at(soon, 1), null, kept, 0);

        // Waits in line for both halves, as an operation behind the promise.
        DeviceQueue consumer = device.queue(1);
        Buffer whole = alloca(consumer, at(gate, 1), at(own, 1), 2 * HALF);
        consumer.fill(at(own, 1), at(own, 2), whole, 0, Buffer.WHOLE, OWN, 1, 0);
        assertThat(device.allocator().poolStatistics().waiting()).isOne();
        gate.signal(1); // by hand: the wait has ended, and the barrier is unknown

        clock.runUntilIdle();
        assertThat(own.isReached(2))
                .as("the allocation ends: %s", own.failure())
                .isTrue();
        MemorySegment bytes = whole.map(MemoryAccess.READ, 0, Buffer.WHOLE);
        long wrong = 0;
        for (long i = 0; i < bytes.byteSize(); i++) {
            wrong += bytes.get(ValueLayout.JAVA_BYTE, i) == OWN ? 0 : 1;
        }
        assertThat(wrong)
                .as("bytes of %d overwritten by others", bytes.byteSize())
                .isZero();
    }
}
