package io.github.iree4j.hal.virtual;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.local.LocalDriverProvider;
import io.github.iree4j.hal.pool.PoolSetStatistics;
import io.github.iree4j.hal.pool.PoolStatistics;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Memory allocated and freed in queue order. */
class StreamOrderedMemoryTest {
    private static final int MB = 1_000_000;

    private enum Kind {
        STREAM,
        UNORDERED,
        LOCAL
    }

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

    private Device open(Kind kind, int queues, long limit) {
        return closed(
                switch (kind) {
                    case STREAM ->
                        VirtualDevice.builder()
                                .clock(clock)
                                .fifoQueues(queues)
                                .memoryLimit(limit)
                                .build();
                    case UNORDERED -> {
                        VirtualDevice.Builder builder =
                                VirtualDevice.builder().clock(clock).memoryLimit(limit);
                        for (int i = 0; i < queues; i++) {
                            builder.unorderedQueue(2);
                        }
                        yield builder.build();
                    }
                    case LOCAL ->
                        new LocalDriverProvider()
                                .open(
                                        "local",
                                        DeviceOptions.builder()
                                                .queueCount(queues)
                                                .memoryLimit(limit)
                                                .build());
                });
    }

    private Fence fence() {
        return at(closed(TimelineSemaphore.create(0)), 1);
    }

    private Fence at(TimelineSemaphore timeline, long value) {
        return closed(Fence.at(timeline, value));
    }

    private void await(Fence fence) {
        clock.runUntilIdle();
        fence.await();
    }

    private Buffer alloca(DeviceQueue queue, @Nullable Fence wait, @Nullable Fence signal, long size) {
        return closed(queue.alloca(wait, signal, BufferParams.DEFAULT, size, 0));
    }

    private static long sum(Device device, ToLongFunction<PoolStatistics> what) {
        return device.allocator().poolStatistics().pools().stream()
                .mapToLong(what)
                .sum();
    }

    static Stream<Arguments> pipelines() {
        return Stream.of(Kind.values()).flatMap(kind -> Stream.of(1, 10, 1000).map(count -> Arguments.of(kind, count)));
    }

    @ParameterizedTest
    @MethodSource("pipelines")
    void pipelinedInvocationsHoldTheTransientBytesOfASingleInvocation(Kind kind, int count) {
        int size = 3 * MB;
        Device device = open(kind, 2, 0);
        TimelineSemaphore timeline = closed(TimelineSemaphore.create(0));
        long now = 1; // the host signals the start, so everything is submitted before anything runs
        List<Buffer> outputs = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            DeviceQueue queue = device.queue(i % 2);
            Buffer scratch = alloca(queue, at(timeline, now), at(timeline, now + 1), size);
            Buffer output = closed(device.allocator().allocate(BufferParams.DEFAULT, 4));
            queue.fill(at(timeline, now + 1), at(timeline, now + 2), scratch, size - 4, 4, i, 4, 0);
            queue.copy(at(timeline, now + 2), at(timeline, now + 3), scratch, size - 4, output, 0, 4, 0);
            queue.dealloca(at(timeline, now + 3), at(timeline, now + 4), scratch, 0);
            now += 4;
            outputs.add(output);
        }
        timeline.signal(1);
        await(at(timeline, now));
        for (int i = 0; i < count; i++) {
            assertThat(outputs.get(i).map(MemoryAccess.READ, 0, 4).get(ValueLayout.JAVA_INT, 0))
                    .isEqualTo(i);
        }
        PoolSetStatistics all = device.allocator().poolStatistics();
        assertThat(sum(device, PoolStatistics::bytesTransientPeak)).isEqualTo(size);
        assertThat(all.bytesTransient()).isZero();
        assertThat(sum(device, PoolStatistics::fresh) - count)
                .as("without the storage of the outputs")
                .isOne();
        assertThat(sum(device, PoolStatistics::reusedWithoutWait) + sum(device, PoolStatistics::reusedAfterWait))
                .isEqualTo(count - 1);
    }

    @Test
    void onASingleStreamNothingWaitsForMemoryAndAllIsIssuedAhead() {
        Device device = open(Kind.STREAM, 1, 1 << 20);
        DeviceQueue queue = device.queue(0);
        TimelineSemaphore timeline = closed(TimelineSemaphore.create(0));
        long now = 0;
        for (int i = 0; i < 100; i++) {
            Buffer scratch = alloca(queue, now == 0 ? null : at(timeline, now), at(timeline, now + 1), 1 << 19);
            queue.fill(at(timeline, now + 1), at(timeline, now + 2), scratch, 0, 4, i, 4, 0);
            queue.dealloca(at(timeline, now + 2), at(timeline, now + 3), scratch, 0);
            now += 3;
        }
        assertThat(queue.counters().pending()).isZero();
        assertThat(clock.now()).isZero();
        assertThat(sum(device, PoolStatistics::reusedWithoutWait)).isEqualTo(99);
        assertThat(sum(device, PoolStatistics::waits)).isZero();
        await(at(timeline, now));
    }

    @Test
    void independentInvocationsOf400MegabytesShare512AndAnInvocationOf600FailsAtOnce() {
        Device device = open(Kind.LOCAL, 1, 512L * MB);
        DeviceQueue queue = device.queue(0);
        Fence ready1 = fence();
        Fence gate1 = fence();
        Fence freed1 = fence();
        Fence ready2 = fence();
        Fence freed2 = fence();
        Buffer first = alloca(queue, null, ready1, 400L * MB);
        queue.dealloca(gate1, freed1, first, 0);
        Buffer second = alloca(queue, null, ready2, 400L * MB);
        queue.dealloca(ready2, freed2, second, 0);
        ready1.await();
        assertThat(ready2.isReached()).isFalse();
        assertThat(device.allocator().poolStatistics().waiting()).isOne();
        Fence overtaking = fence();
        queue.barrier(null, overtaking, 0);
        overtaking.await();
        Fence never = fence();
        alloca(queue, null, never, 600L * MB);
        assertThat(never.failure()).isPresent();
        assertThat(never.query()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(never.failure().get().getMessage())
                .contains(
                        "allocation of 600000000 bytes",
                        "can never fit",
                        "the limit of device 'local' is 512000000 bytes");
        gate1.signal();
        freed2.await();
        freed1.await();
        assertThat(sum(device, PoolStatistics::waits)).isOne();
        assertThat(sum(device, PoolStatistics::waitedNanos)).isPositive();
        assertThat(sum(device, PoolStatistics::bytesTransientPeak)).isEqualTo(400L * MB);
    }

    @Test
    void onStreamsTheDeviceWaitsForMemoryInUse() {
        Device device = open(Kind.STREAM, 2, 10 * MB);
        Fence done = fence();
        for (int q = 0; q < 2; q++) {
            DeviceQueue queue = device.queue(q);
            TimelineSemaphore own = closed(TimelineSemaphore.create(0));
            Buffer scratch = alloca(queue, null, at(own, 1), 8 * MB);
            queue.fill(at(own, 1), at(own, 2), scratch, 0, Buffer.WHOLE, q, 1, 0);
            queue.dealloca(at(own, 2), q == 0 ? null : done, scratch, 0);
        }
        assertThat(device.queue(1).counters().pending())
                .as("everything is on the streams")
                .isZero();
        assertThat(sum(device, PoolStatistics::reusedAfterWait)).isOne();
        await(done);
        assertThat(clock.now()).as("one after the other").isEqualTo(6);
    }

    @Test
    void modelsWithDisjointAxesSwapMemoryWithoutWaitingOnceWorkHasCompleted() {
        Device device = open(Kind.STREAM, 2, 10 * MB);
        for (int round = 0; round < 10; round++) {
            DeviceQueue queue = device.queue(round % 2);
            TimelineSemaphore own = closed(TimelineSemaphore.create(0));
            Buffer scratch = alloca(queue, null, at(own, 1), 8 * MB);
            queue.fill(at(own, 1), at(own, 2), scratch, 0, 4, round, 4, 0);
            queue.dealloca(at(own, 2), at(own, 3), scratch, 0);
            await(at(own, 3));
        }
        assertThat(sum(device, PoolStatistics::reusedWithoutWait)).isEqualTo(9);
        assertThat(sum(device, PoolStatistics::reusedAfterWait)).isZero();
        assertThat(sum(device, PoolStatistics::refusedUncovered)).isZero();
    }

    @Test
    void whereTheDeviceCannotWaitTheRequestStandsInLineUntilTheWorkIsOver() {
        // An unordered queue beside a stream: no wait for the stream's marks is possible.
        VirtualDevice device = closed(VirtualDevice.builder()
                .clock(clock)
                .fifoQueues(1)
                .unorderedQueue(1)
                .memoryLimit(10 * MB)
                .build());
        TimelineSemaphore own = closed(TimelineSemaphore.create(0));
        Buffer first = alloca(device.queue(0), null, at(own, 1), 8 * MB);
        device.queue(0).dealloca(at(own, 1), at(own, 2), first, 0);
        Fence ready = fence();
        alloca(device.queue(1), null, ready, 8 * MB);
        assertThat(device.queue(1).counters().pending()).isOne();
        assertThat(sum(device, PoolStatistics::refusedUncovered)).isPositive();
        await(ready);
        assertThat(sum(device, PoolStatistics::waits)).isOne();
    }

    @Test
    void memoryOfIndeterminateLifetimeGoesWithItsLastReference() {
        for (Kind kind : Kind.values()) {
            Device device = open(kind, 1, 0);
            DeviceQueue queue = device.queue(0);
            Fence ready = fence();
            Fence freed = fence();
            Buffer buffer =
                    queue.alloca(null, ready, BufferParams.DEFAULT, 64, DeviceQueue.ALLOCA_INDETERMINATE_LIFETIME);
            assertThat(buffer.placement())
                    .isEqualTo(Buffer.PLACEMENT_ASYNCHRONOUS | Buffer.PLACEMENT_INDETERMINATE_LIFETIME);
            queue.dealloca(ready, freed, buffer, 0);
            await(freed);
            buffer.map(MemoryAccess.READ | MemoryAccess.WRITE, 0, 64).fill((byte) 1);
            assertThat(device.allocator().poolStatistics().bytesTransient()).isEqualTo(64);
            buffer.close();
            assertThat(device.allocator().poolStatistics().bytesTransient()).isZero();
        }
    }

    @Test
    void memoryPreservedByOthersStaysUntilTheLastDiscard() {
        for (Kind kind : Kind.values()) {
            Device device = open(kind, 1, 0);
            DeviceQueue queue = device.queue(0);
            Fence ready = fence();
            Buffer buffer = alloca(queue, null, ready, 64);
            buffer.preserve();
            assertThat(buffer.isTerminal()).isFalse();
            Fence barrier = fence();
            queue.dealloca(ready, barrier, buffer, 0);
            await(barrier);
            buffer.map(MemoryAccess.READ, 0, 64);
            assertThat(buffer.discard()).isFalse();
            assertThat(buffer.isTerminal()).isTrue();
            assertThat(buffer.discard()).isTrue();
            Fence freed = fence();
            queue.dealloca(null, freed, buffer, 0);
            await(freed);
            assertThat(device.allocator().poolStatistics().bytesTransient()).isZero();
        }
    }

    @Test
    void memoryFreedOnALostDeviceComesBackToItsOwner() {
        VirtualDevice owner = (VirtualDevice) open(Kind.STREAM, 1, 10 * MB);
        VirtualDevice other = (VirtualDevice) open(Kind.STREAM, 1, 10 * MB);
        Fence ready = fence();
        Buffer first = alloca(owner.queue(0), null, ready, 8 * MB);
        Fence freed = fence();
        other.queue(0).dealloca(ready, freed, first, 0);
        await(ready);
        other.lose(IreeException.of(StatusCode.UNAVAILABLE, "lost"));
        Fence again = fence();
        Buffer second = alloca(owner.queue(0), null, again, 8 * MB);
        await(again);
        second.map(MemoryAccess.READ, 0, 8 * MB);
    }

    @Test
    void anAllocationMayPreferToWaitForFreedMemory() {
        for (long flags : new long[] {0, DeviceQueue.ALLOCA_ALLOW_POOL_WAIT_FRONTIER}) {
            Device owner = open(Kind.STREAM, 1, 0);
            Device other = open(Kind.STREAM, 1, 0); // these marks mean nothing to the first stream's hardware
            Fence ready = fence();
            Buffer first = alloca(owner.queue(0), null, ready, 3 * MB);
            await(ready);
            Fence freed = fence();
            other.queue(0).dealloca(null, freed, first, 0);
            long before = sum(owner, PoolStatistics::bytesReserved);
            Fence again = fence();
            closed(owner.queue(0).alloca(null, again, BufferParams.DEFAULT, 3 * MB, flags));
            assertThat(owner.allocator().poolStatistics().waiting()).isEqualTo(flags == 0 ? 0 : 1);
            await(again);
            assertThat(sum(owner, PoolStatistics::bytesReserved) - before).isEqualTo(flags == 0 ? 3 * MB : 0);
        }
    }

    @Test
    void aDeallocationPrefersTheAllocatingQueue() {
        Device device = open(Kind.STREAM, 2, 0);
        Fence ready = fence();
        Fence freed = fence();
        Buffer buffer = alloca(device.queue(0), null, ready, 64);
        device.queue(1).dealloca(ready, freed, buffer, DeviceQueue.DEALLOCA_PREFER_ORIGIN);
        await(freed);
        assertThat(device.queue(1).counters().submitted()).isZero();
        assertThat(device.queue(0).counters().submitted()).isEqualTo(2);
    }

    @Test
    void closingTheDeviceEndsWaitingAllocations() {
        for (Kind kind : Kind.values()) {
            Device device = open(kind, 1, 10 * MB);
            Buffer holder = closed(device.allocator().allocate(BufferParams.DEFAULT, 8 * MB));
            Fence ready = fence();
            Buffer waiting = alloca(device.queue(0), null, ready, 8 * MB);
            assertThat(device.allocator().poolStatistics().waiting()).isOne();
            device.close();
            assertThat(ready.query()).isEqualTo(StatusCode.ABORTED);
            holder.close();
            waiting.close();
            assertThat(device.allocator().poolStatistics().bytesReserved()).isZero();
        }
    }

    /** SCHED-5: the wait is promised, so it holds nothing back, and fails later. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void anAllocationWaitingForMemoryFailsWithItsWait(Kind kind) {
        Device device = open(kind, 2, 1 << 20);
        Buffer held = alloca(device.queue(0), null, null, 3 << 18);
        clock.runUntilIdle();
        Fence gate = fence();
        Fence promised = fence();
        Fence end = fence();
        device.queue(1)
                .hostCall(
                        kind == Kind.LOCAL ? gate : null,
                        promised,
                        () -> {
                            throw IreeException.of(StatusCode.DATA_LOSS, "on purpose");
                        },
                        0);
        Buffer wanted = alloca(device.queue(0), promised, end, 3 << 18);
        assertThat(end.query()).isEqualTo(StatusCode.DEFERRED);
        gate.signal();
        clock.runUntilIdle();
        assertThatThrownBy(() -> end.await(Duration.ofSeconds(60))).hasMessageContaining("on purpose");
        wanted.close();
        held.close();
        assertThat(device.allocator().poolStatistics().bytesLive()).isZero();
        assertThat(device.allocator().poolStatistics().waiting()).isZero();
    }

    /** SCHED-5: the promise ends well while the allocation is in line, which proves nothing about memory. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void anAllocationWaitingForMemoryStaysInLineWhenItsWaitIsReached(Kind kind) {
        Device device = open(kind, 2, 1 << 20);
        Buffer held = alloca(device.queue(0), null, null, 3 << 18);
        clock.runUntilIdle();
        Fence gate = fence();
        Fence promised = fence();
        Fence end = fence();
        device.queue(1).hostCall(kind == Kind.LOCAL ? gate : null, promised, () -> {}, 0);
        Buffer wanted = alloca(device.queue(0), promised, end, 3 << 18);
        gate.signal();
        clock.runUntilIdle();
        promised.await(Duration.ofSeconds(60));
        assertThat(end.query()).isEqualTo(StatusCode.DEFERRED);
        if (kind != Kind.LOCAL) { // there the line is joined on another thread
            assertThat(device.allocator().poolStatistics().waiting()).isOne();
        }
        held.close();
        await(end);
        wanted.map(MemoryAccess.WRITE, 0, 3 << 18);
        wanted.close();
        assertThat(device.allocator().poolStatistics().bytesLive()).isZero();
    }

    @Test
    void aWaitingAllocationGoesOnWhenTheHostFrees() {
        for (Kind kind : Kind.values()) {
            Device device = open(kind, 1, 10 * MB);
            Buffer holder = device.allocator().allocate(BufferParams.DEFAULT, 8 * MB);
            Fence ready = fence();
            Fence filled = fence();
            Buffer waiting = alloca(device.queue(0), null, ready, 8 * MB);
            device.queue(0).fill(ready, filled, waiting, 0, Buffer.WHOLE, 5, 1, 0);
            assertThat(filled.isReached()).isFalse();
            holder.close();
            await(filled);
            assertThat(waiting.map(MemoryAccess.READ, 8 * MB - 1, 1).get(ValueLayout.JAVA_BYTE, 0))
                    .isEqualTo((byte) 5);
        }
    }

    @Test
    void aDeallocationPossiblyBeforeTheAllocationGivesNothingAway() {
        // Two streams and no order between them: in either order, the storage has a single owner at a time.
        Device device = open(Kind.STREAM, 2, 10 * MB);
        Fence ready = fence();
        Fence early = fence();
        Buffer buffer = alloca(device.queue(0), null, ready, 8 * MB);
        device.queue(1).dealloca(null, early, buffer, 0);
        assertThat(device.allocator().poolStatistics().bytesTransient()).isEqualTo(8 * MB);
        Fence other = fence();
        Buffer second = alloca(device.queue(1), null, other, 8 * MB);
        clock.runUntilIdle();
        assertThat(early.query()).isIn(StatusCode.OK, StatusCode.FAILED_PRECONDITION);
        buffer.close();
        await(other);
        second.map(MemoryAccess.WRITE, 0, 8 * MB);
    }

    @Test
    void aQuotaMakesOnlyItsOwnConsumerWait() {
        VirtualDevice device = closed(VirtualDevice.builder()
                .clock(clock)
                .fifoQueues(1)
                .memoryLimit(100 * MB)
                .memoryQuota("greedy", 8 * MB)
                .build());
        BufferParams greedy = BufferParams.DEFAULT.withConsumer("greedy");
        DeviceQueue queue = device.queue(0);
        Fence gate = fence();
        Fence freed = fence();
        Fence second = fence();
        Fence modest = fence();
        Buffer first = closed(queue.alloca(null, null, greedy, 6 * MB, 0));
        queue.dealloca(gate, freed, first, 0);
        closed(queue.alloca(null, second, greedy, 6 * MB, 0));
        closed(queue.alloca(null, modest, BufferParams.DEFAULT.withConsumer("modest"), 50 * MB, 0));
        await(modest);
        assertThat(second.isReached()).isFalse();
        gate.signal();
        await(second);
        assertThat(device.allocator().poolStatistics().consumers())
                .filteredOn(each -> each.consumer().equals("greedy"))
                .singleElement()
                .satisfies(each -> assertThat(each.bytesPeak()).isEqualTo(6 * MB));
    }

    @Test
    void aFittingRequestIsServedOnceTheDeviceIsIdle() {
        // Memory freed by the first waits for the third, behind the second: no other event could ever release the
        // memory.
        for (Kind kind : Kind.values()) {
            Device device = open(kind, 1, 10 * MB);
            DeviceQueue queue = device.queue(0);
            Fence consumed = fence();
            Fence freed = fence();
            Fence large = fence();
            Fence slow = fence();
            Buffer output = closed(queue.alloca(null, null, BufferParams.DEFAULT.withConsumer("producer"), 6 * MB, 0));
            queue.dealloca(consumed, freed, output, 0);
            queue.barrier(null, slow, 0);
            closed(queue.alloca(null, large, BufferParams.DEFAULT.withConsumer("large"), 8 * MB, 0));
            closed(queue.alloca(null, consumed, BufferParams.DEFAULT.withConsumer("consumer"), 2 * MB, 0));
            await(freed);
            await(large);
        }
    }
}
