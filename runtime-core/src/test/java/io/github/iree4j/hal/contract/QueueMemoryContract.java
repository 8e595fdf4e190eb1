package io.github.iree4j.hal.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The contract of every backend's queues for memory allocated, freed and used by work. */
public abstract class QueueMemoryContract extends DeviceContract {
    private static final IreeException LOST = IreeException.of(StatusCode.DATA_LOSS, "lost on purpose");

    /** On a backend, closed after each test. */
    protected QueueMemoryContract(Backend backend) {
        super(backend);
    }

    private static MemorySegment bytes(int... values) {
        return MemorySegment.ofArray(values);
    }

    @Test
    void aHandleCarriesTheFailureOfItsAllocation() {
        Device other = open(DeviceOptions.builder());
        other.close();
        Fence ready = fence();
        Buffer buffer = closed(other.queue(0).alloca(null, ready, PARAMS, 64, 0));
        assertFails(ready, StatusCode.FAILED_PRECONDITION, "is closed");
        assertFails(
                StatusCode.FAILED_PRECONDITION, "whose allocation failed", () -> buffer.map(MemoryAccess.READ, 0, 4));
        TimelineSemaphore failed = semaphore();
        failed.fail(LOST);
        Buffer next = closed(queue.alloca(at(failed, 1), fence(), PARAMS, 64, 0));
        assertFails(StatusCode.DATA_LOSS, "lost on purpose", () -> next.map(MemoryAccess.READ, 0, 4));
    }

    @Test
    void allocatesAndFreesInQueueOrder() {
        TimelineSemaphore timeline = semaphore();
        Buffer transient1 = closed(queue.alloca(at(timeline, 1), at(timeline, 2), PARAMS, 1 << 20, 0));
        assertThat(transient1.length()).isEqualTo(1 << 20);
        assertThat(transient1.placement()).isEqualTo(Buffer.PLACEMENT_ASYNCHRONOUS);
        assertThat(transient1.origin()).isSameAs(queue);
        assertThat(device.allocator().statistics().bytesLive())
                .as("nothing before its turn")
                .isZero();
        queue.fill(at(timeline, 2), at(timeline, 3), transient1, 0, Buffer.WHOLE, 4, 1, 0);
        queue.dealloca(at(timeline, 3), at(timeline, 4), transient1, DeviceQueue.DEALLOCA_PREFER_ORIGIN);
        queue.barrier(null, at(timeline, 1), 0);
        at(timeline, 4).await();
        assertThat(device.allocator().statistics().bytesLive()).isZero();
        assertThat(device.allocator().statistics().bytesPeak()).isGreaterThanOrEqualTo(1 << 20);
    }

    @Test
    void useBeforeTheAllocationIsAnError() {
        Buffer buffer = closed(queue.alloca(fence(), fence(), PARAMS, 64, 0));
        Fence done = fence();
        queue.fill(null, done, buffer, 0, 64, 0, 1, 0);
        assertFails(done, StatusCode.FAILED_PRECONDITION, "is not allocated yet; wait for the signal of its alloca");
        assertFails(StatusCode.FAILED_PRECONDITION, "is not allocated yet", () -> buffer.map(MemoryAccess.READ, 0, 64));
        Fence early = fence();
        queue.dealloca(null, early, buffer, 0);
        assertFails(early, StatusCode.FAILED_PRECONDITION, "not allocated yet");
    }

    @Test
    void usesBehindTheAllocationRunHoweverMuchTheirFrontiersHaveLost() {
        Device several = closed(open(DeviceOptions.builder().queueCount(2)));
        DeviceQueue first = several.queue(0);
        DeviceQueue second = several.queue(1);
        Executable kernels = closed(kernels(several));
        Buffer result = closed(several.allocator().allocate(PARAMS, 64));
        long live = several.allocator().statistics().bytesLive();
        try (ForgettingWaits others = new ForgettingWaits(several.schedulingDomain())) {
            TimelineSemaphore gate = semaphore();
            TimelineSemaphore order = semaphore();
            Buffer buffer = closed(first.alloca(at(gate, 1), at(order, 1), PARAMS, 64, 0));
            second.fill(closed(others.and(at(order, 1))), at(order, 2), buffer, 0, 32, 1, 4, 0);
            second.update(at(order, 2), at(order, 3), bytes(2, 2, 2, 2, 2, 2, 2, 2), buffer, 32, 0);
            second.dispatch(
                    at(order, 3),
                    at(order, 4),
                    kernels,
                    JavaKernels.SCALE,
                    DispatchConfig.of(16, 1, 1),
                    new int[] {10, 1},
                    BindingTable.of(buffer, buffer),
                    0);
            try (CommandBuffer commands = several.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 0)) {
                commands.copyBuffer(BufferRef.of(buffer, 0, 32), BufferRef.of(result, 32, 32), 0);
                commands.finish();
                second.execute(at(order, 4), at(order, 5), commands, null, 0);
            }
            second.copy(at(order, 5), at(order, 6), buffer, 32, result, 0, 32, 0);
            second.dealloca(at(order, 6), at(order, 7), buffer, 0);
            gate.signal(1);
            at(order, 7).await();
            assertThat(read(result)).containsExactly(21, 21, 21, 21, 21, 21, 21, 21, 11, 11, 11, 11, 11, 11, 11, 11);
            assertThat(several.allocator().statistics().bytesLive()).isEqualTo(live);
        }
    }

    @Test
    void useAfterTheDeallocationIsAnError() {
        Fence ready = fence();
        Buffer buffer = closed(queue.alloca(null, ready, PARAMS, 64, 0));
        ready.await();
        Fence freed = fence();
        queue.dealloca(null, freed, buffer, 0);
        freed.await();
        Fence done = fence();
        queue.fill(null, done, buffer, 0, 64, 0, 1, 0);
        assertFails(done, StatusCode.FAILED_PRECONDITION, "has been deallocated");
        Fence twice = fence();
        queue.dealloca(null, twice, buffer, 0);
        assertFails(twice, StatusCode.FAILED_PRECONDITION, "has been deallocated");
    }

    @Test
    void aHostCallSeesMemoryDeallocatedMeanwhile() { // BUF-4
        hostCallsSee(PARAMS, Effort.rounds(1_000));
    }

    /** Memory without a need of mapping. */
    @Test
    void aHostCallMovesMemoryDeallocatedMeanwhile() {
        hostCallsSee(BufferParams.DEFAULT, Effort.rounds(20));
    }

    private void hostCallsSee(BufferParams params, int rounds) {
        Device several = closed(open(DeviceOptions.builder().queueCount(3)));
        for (int round = 0; round < rounds; round++) {
            TimelineSemaphore timeline = semaphore();
            Fence start = fence();
            DeviceQueue calling = several.queue(0);
            AtomicBoolean begun = new AtomicBoolean();
            AtomicBoolean submitted = new AtomicBoolean();
            int[] found = new int[16];
            Thread submitting = Thread.currentThread();
            try (Buffer buffer = calling.alloca(start, at(timeline, 1), params, 64, 0)) {
                calling.fill(at(timeline, 1), at(timeline, 2), buffer, 0, 64, round, 4, 0);
                calling.hostCall(
                        at(timeline, 2),
                        at(timeline, 3),
                        () -> {
                            boolean last;
                            do {
                                last = submitted.get()
                                        || Thread.currentThread() == submitting; // with the right to run the wait
                                buffer.read(0, MemorySegment.ofArray(found));
                                begun.set(true);
                            } while (!last);
                        },
                        0);
                Thread.startVirtualThread(start::signal); // with the right to run the call
                while (round % 4 > 0 && !begun.get()) {
                    Thread.onSpinWait();
                }
                several.queue(round % 2).dealloca(at(timeline, 3), at(timeline, 4), buffer, 0);
                submitted.set(true);
            }
            at(timeline, 4).await(LONG);
            assertThat(found).containsOnly(round);
        }
    }

    @Test
    void deallocaOfSynchronousMemoryIsABarrier() {
        Buffer buffer = ints(5);
        Fence done = fence();
        queue.dealloca(null, done, buffer, 0);
        done.await();
        assertThat(read(buffer)).containsExactly(5);
    }

    @Test
    void closingTheHandleFreesMemoryNeverDeallocated() {
        Fence ready = fence();
        queue.alloca(null, ready, PARAMS, 4096, 0).close();
        ready.await();
        assertThat(device.allocator().statistics().bytesLive()).isZero();
        Fence wait = fence();
        Fence late = fence();
        queue.alloca(wait, late, PARAMS, 4096, 0).close();
        wait.signal();
        late.await();
        assertThat(device.allocator().statistics().bytesLive()).isZero();
    }

    @Test
    void aFailedAllocationIsTheRootCauseOfItsUsesFailures() {
        Device small = closed(open(DeviceOptions.builder().memoryLimit(4096)));
        DeviceQueue q = small.queue(0);
        Fence ready = fence();
        Buffer buffer = closed(q.alloca(null, ready, PARAMS, 100_000, 0));
        assertFails(ready, StatusCode.RESOURCE_EXHAUSTED, "allocation of 100000 bytes exceeds the memory limit");
        Fence filled = fence();
        q.fill(null, filled, buffer, 0, 4, 0, 4, 0);
        assertFails(filled, StatusCode.RESOURCE_EXHAUSTED, "whose allocation failed");
        Fence chained = fence();
        q.fill(ready, chained, buffer, 0, 4, 0, 4, 0);
        assertThat(chained.failure()).isPresent().isEqualTo(ready.failure());
        assertFails(StatusCode.INVALID_ARGUMENT, "length -5", () -> q.alloca(null, null, PARAMS, -5, 0));
    }

    /**
     * A call with much of a device's memory and a next allocation that waits for the rest; the code waits for its own
     * end.
     */
    private final class Starving {
        final Device small = closed(open(DeviceOptions.builder().memoryLimit(4 << 20)));
        final DeviceQueue small0 = small.queue(0);
        final MemoryHolder call = new MemoryHolder("starving", new OperationsUnderWay());
        final Fence freed = fence();
        final Buffer has;

        Starving() {
            Fence ready = fence();
            closed(small0.alloca(
                    null, ready, PARAMS, 64, 0)); // memory held by no call is hope: nobody judges the request
            ready.await();
            MemoryHolder before = call.enter();
            ready = fence();
            has = closed(small0.alloca(null, ready, PARAMS, 3 << 20, 0));
            ready.await();
            Fence more = fence();
            Fence filled = fence();
            Buffer wanted = closed(small0.alloca(null, more, PARAMS, 3 << 20, 0));
            small0.fill(more, filled, wanted, 0, 64, 1, 4, 0);
            small0.dealloca(filled, freed, has, 0);
            suspend(before, freed);
        }

        void suspend(@Nullable MemoryHolder before, Fence... awaited) {
            call.suspendsUntil(List.of(awaited));
            call.leave(before);
        }

        int heldByMemory() {
            return small.schedulingDomain().heldByMemory(call);
        }

        /** Waits until the host has learnt of the end of an operation, perhaps after the signal. */
        void awaitHeld() {
            while (heldByMemory() != 1) {
                assertThat(freed.failure()).isEmpty();
                Thread.onSpinWait();
            }
        }

        void end() {
            small.schedulingDomain().withdraw(call, LOST);
            assertFails(freed, StatusCode.DATA_LOSS, "lost on purpose");
            assertThat(heldByMemory()).isZero();
        }
    }

    @Test
    void aCallIsKnownToBeHeldByItsRequestForMemoryIfAllItsWorkWaitsForIt() {
        Starving starving = new Starving();
        starving.awaitHeld();
        MemoryHolder before = starving.call.enter();
        assertThat(starving.heldByMemory()).as("its code runs").isZero();
        starving.suspend(before);
        assertThat(starving.heldByMemory()).as("its code has returned").isEqualTo(1);
        starving.call.enter();
        starving.call.leave(before);
        assertThat(starving.heldByMemory()).as("its code waits for something").isZero();
        starving.end();
    }

    @Test
    void aCallWithOtherWaitsIsNotKnownToBeHeldByMemory() {
        Starving starving = new Starving();
        starving.awaitHeld();
        Fence foreign = fence();
        MemoryHolder before = starving.call.enter();
        starving.suspend(before, starving.freed, foreign);
        assertThat(starving.heldByMemory())
                .as("its code waits for another fence too")
                .isZero();
        before = starving.call.enter();
        MemoryHolder inner = new MemoryHolder("inner", new OperationsUnderWay(), null, starving.call);
        starving.suspend(before, starving.freed);
        assertThat(starving.heldByMemory()).as("a call made by it goes on").isZero();
        inner.end();
        inner.settle(() -> {});
        starving.awaitHeld();
        before = starving.call.enter();
        Fence filled = fence();
        starving.small0.fill(foreign, filled, starving.has, 0, 64, 1, 4, 0);
        starving.suspend(before, starving.freed);
        assertThat(starving.heldByMemory())
                .as("an operation of the call waits for others")
                .isZero();
        foreign.signal();
        filled.await();
        starving.awaitHeld();
        starving.end();
    }

    @Test // DEADLOCK-2
    void aCallIsNotReportedAsHeldByMemoryWhileAnOperationGoesOn() {
        Starving starving = new Starving();
        for (int round = 0; round < Effort.rounds(50); round++) {
            Fence foreign = fence();
            Fence filled = fence();
            MemoryHolder before = starving.call.enter();
            starving.small0.fill(foreign, filled, starving.has, 0, 64, round, 4, 0);
            starving.suspend(before, starving.freed);
            Thread.startVirtualThread(foreign::signal);
            starving.awaitHeld();
            assertThat(filled.isReached()).isTrue();
        }
        starving.end();
    }

    @Test
    void waitingWorkKeepsItsBuffers() {
        Fence wait = fence();
        Fence done = fence();
        Buffer target = ints(0);
        Buffer source = ints(42);
        queue.copy(wait, done, source, 0, target, 0, 4, 0);
        source.close();
        wait.signal();
        done.await();
        assertThat(read(target)).containsExactly(42);
        assertThat(source.isLive()).isFalse();
    }

    /** Neither an earlier failure nor a failure behind counts. */
    @Test
    void aDeallocationWithAFailedWaitFreesNothing() {
        Fence ready = fence();
        Buffer buffer = closed(queue.alloca(null, ready, PARAMS, 64, 0));
        ready.await();
        for (boolean before : new boolean[] {true, false}) {
            TimelineSemaphore failing = semaphore();
            if (before) {
                failing.fail(LOST);
            }
            Fence freed = fence();
            queue.dealloca(at(failing, 1), freed, buffer, 0);
            failing.fail(LOST);
            assertFails(freed, StatusCode.DATA_LOSS, "lost on purpose");
            Fence filled = fence();
            queue.fill(null, filled, buffer, 0, 64, 7, 4, 0);
            filled.await();
            assertThat(read(buffer)).containsOnly(7);
        }
        Fence freed = fence();
        queue.dealloca(null, freed, buffer, 0);
        freed.await();
        assertThat(device.allocator().statistics().bytesLive()).isZero();
    }

    @Test
    void closedThingsAreRefused() {
        Buffer buffer = ints(1);
        buffer.close();
        Fence done = fence();
        queue.fill(null, done, buffer, 0, 4, 0, 4, 0);
        assertFails(done, StatusCode.FAILED_PRECONDITION, "is closed");
        Fence closedFence = fence();
        closedFence.close();
        assertFails(
                StatusCode.FAILED_PRECONDITION, "signal fence is closed", () -> queue.barrier(null, closedFence, 0));
        Fence other = fence();
        queue.barrier(closedFence, other, 0);
        assertFails(other, StatusCode.FAILED_PRECONDITION, "wait fence of barrier is closed");
    }

    private static void settle(Fence fence) {
        try {
            fence.await();
        } catch (IreeException e) {
            // Failed, and so settled too.
        }
    }

    @Test
    void closingBuffersUnderRunningWorkNeverTouchesFreedMemory() throws Exception {
        // Every operation either runs on live memory or fails; JavaKernels and the JDK's checks would see anything
        // else.
        Executable kernels = closed(kernels(device));
        for (int round = 0; round < Effort.rounds(300); round++) {
            Fence ready = fence();
            Buffer buffer = queue.alloca(null, ready, PARAMS, 4 << 10, 0);
            ready.await();
            Fence freed = fence();
            Thread closer = Thread.ofPlatform().start(() -> {
                queue.dealloca(null, freed, buffer, 0);
                buffer.close();
            });
            TimelineSemaphore timeline = device.createSemaphore(0, 0);
            try (Fence done = Fence.at(timeline, 1)) {
                queue.dispatch(
                        null,
                        done,
                        kernels,
                        JavaKernels.COORDINATES,
                        DispatchConfig.of(1024, 1, 1),
                        new int[0],
                        BindingTable.of(buffer),
                        0);
                closer.join();
                freed.await();
                settle(done);
                assertThat(done.query()).isIn(StatusCode.OK, StatusCode.FAILED_PRECONDITION);
            }
            timeline.close();
            assertThat(device.allocator().statistics().bytesLive()).isZero();
        }
    }
}
