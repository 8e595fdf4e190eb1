package io.github.iree4j.hal.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract of every backend's queues. */
public abstract class QueueContract extends DeviceContract {
    private static final IreeException LOST = IreeException.of(StatusCode.DATA_LOSS, "lost on purpose");

    /** On a backend, closed after each test. */
    protected QueueContract(Backend backend) {
        super(backend);
    }

    private static MemorySegment bytes(int... values) {
        return MemorySegment.ofArray(values);
    }

    @Test
    void barrierSignalsWhenItsWaitIsReached() {
        Fence wait = fence();
        Fence done = fence();
        queue.barrier(wait, done, 0);
        assertThat(done.isReached()).isFalse();
        wait.signal();
        done.await();
        Fence at = fence();
        queue.barrier(null, at, 0);
        at.await();
        queue.barrier(null, null, 0);
        queue.flush();
    }

    @Test
    void fillsWithPatternsOfEverySize() {
        Buffer buffer = ints(new int[64]);
        Object[][] cases = {
            {1, 0xABL, 0xABABABAB, 0xABABABAB},
            {2, 0x1234L, 0x12341234, 0x12341234},
            {4, 0xDEADBEEFL, 0xDEADBEEF, 0xDEADBEEF},
            {8, 0x0102030405060708L, 0x05060708, 0x01020304},
        };
        for (Object[] each : cases) {
            Fence done = fence();
            queue.fill(null, done, buffer, 8, 240, (Long) each[1], (Integer) each[0], 0);
            done.await();
            int[] now = read(buffer);
            assertThat(now[1]).isZero();
            assertThat(now[2]).isEqualTo(each[2]);
            assertThat(now[61]).isEqualTo(each[3]);
            assertThat(now[62]).isZero();
        }
    }

    @Test
    void fillsAgreeWithALoopWhateverTheRange() {
        long seed = Effort.seed(20261120);
        Random random = new Random(seed);
        for (int round = 0; round < 300; round++) {
            int patternLength = 1 << random.nextInt(4);
            int length = random.nextInt(600) / patternLength * patternLength;
            int offset = random.nextInt(100) * patternLength;
            long pattern = random.nextLong();
            try (Buffer buffer = device.allocator().allocate(PARAMS, 2048)) {
                MemorySegment bytes = buffer.map(MemoryAccess.WRITE, 0, 2048);
                bytes.fill((byte) 0x55);
                Fence done = fence();
                queue.fill(null, done, buffer, offset, length, pattern, patternLength, 0);
                done.await();
                for (int i = 0; i < 2048; i++) {
                    byte expected = i < offset || i >= offset + length
                            ? 0x55
                            : (byte) (pattern >>> ((i - offset) % patternLength * 8));
                    assertThat(bytes.get(ValueLayout.JAVA_BYTE, i))
                            .as("seed %d, byte %d", seed, i)
                            .isEqualTo(expected);
                }
            }
        }
    }

    @Test
    void aFillIsAlignedWithinItsBufferAlsoWhereTheBufferIsAnUnalignedPart() {
        Buffer whole = ints(0, 0, 0, 0);
        Buffer part = closed(whole.subspan(1, 12));
        Fence done = fence();
        queue.fill(null, done, part, 4, 8, 0x04030201, 4, 0);
        done.await();
        assertThat(read(whole)).containsExactly(0, 0x03020100, 0x03020104, 4);
    }

    @Test
    void copiesAndUpdatesRanges() {
        Buffer source = ints(1, 2, 3, 4);
        Buffer target = ints(0, 0, 0, 0);
        Fence done = fence();
        queue.copy(null, done, source, 4, target, 8, 8, 0);
        done.await();
        assertThat(read(target)).containsExactly(0, 0, 2, 3);
        Fence updated = fence();
        queue.update(null, updated, bytes(8, 9), target, 0, 0);
        updated.await();
        assertThat(read(target)).containsExactly(8, 9, 2, 3);
        Fence whole = fence();
        queue.copy(null, whole, source, 8, target, 0, Buffer.WHOLE, 0);
        whole.await();
        assertThat(read(target)).containsExactly(3, 4, 2, 3);
    }

    @Test
    void updatesCaptureTheirBytes() {
        Buffer target = ints(0, 0);
        Fence wait = fence();
        Fence done = fence();
        int[] values = {8, 9};
        queue.update(wait, done, MemorySegment.ofArray(values), target, 0, 0);
        values[0] = 1000;
        wait.signal();
        done.await();
        assertThat(read(target)).containsExactly(8, 9);
    }

    @Test
    void readsAndWritesFiles(@TempDir Path directory) throws Exception {
        Path path = directory.resolve("data.bin");
        Files.write(path, new byte[] {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0});
        try (HalFile file = HalFile.open(path, MemoryAccess.READ | MemoryAccess.WRITE)) {
            assertThat(file.length()).isEqualTo(12);
            Buffer buffer = ints(0, 0, 0);
            Fence read = fence();
            queue.read(null, read, file, 4, buffer, 4, 8, 0);
            read.await();
            assertThat(read(buffer)).containsExactly(0, 2, 3);
            Fence written = fence();
            queue.write(read, written, buffer, 4, file, 0, 4, 0);
            written.await();
            assertThat(Files.readAllBytes(path)).startsWith(2, 0, 0, 0, 2);
            Fence beyond = fence();
            queue.read(null, beyond, file, 8, buffer, 0, 8, 0);
            assertFails(beyond, StatusCode.OUT_OF_RANGE, "read [8, 16) does not fit file '");
        }
        assertFails(StatusCode.NOT_FOUND, "does not exist", () -> HalFile.open(directory.resolve("no"), 1));
    }

    @Test
    void readsFilesInMemory() {
        MemorySegment memory = bytes(5, 6, 7);
        try (HalFile file = HalFile.ofMemory(memory.asReadOnly(), MemoryAccess.READ, null)) {
            Buffer buffer = ints(0, 0);
            Fence done = fence();
            queue.read(null, done, file, 4, buffer, 0, 8, 0);
            done.await();
            assertThat(read(buffer)).containsExactly(6, 7);
            Fence denied = fence();
            queue.write(null, denied, buffer, 0, file, 0, 4, 0);
            assertFails(denied, StatusCode.PERMISSION_DENIED, "write needs a file with access WRITE");
        }
        assertFails(
                StatusCode.PERMISSION_DENIED,
                "its memory is read-only",
                () -> HalFile.ofMemory(memory.asReadOnly(), MemoryAccess.ALL, null));
    }

    @Test
    void hostCallsRunInTheirPlace() {
        Buffer buffer = ints(0);
        TimelineSemaphore timeline = semaphore();
        List<Integer> seen = new ArrayList<>();
        queue.hostCall(at(timeline, 1), at(timeline, 2), () -> seen.add(read(buffer)[0]), 0);
        queue.fill(null, at(timeline, 1), buffer, 0, 4, 7, 4, 0);
        at(timeline, 2).await();
        assertThat(seen).containsExactly(7);
    }

    @Test
    void aThrowingHostCallFailsItsSignal() {
        Fence status = fence();
        queue.hostCall(
                null,
                status,
                () -> {
                    throw LOST;
                },
                0);
        assertFails(status, StatusCode.DATA_LOSS, "lost on purpose");
        Fence other = fence();
        queue.hostCall(
                null,
                other,
                () -> {
                    throw new IllegalStateException("bad luck");
                },
                0);
        assertFails(other, StatusCode.INTERNAL, "bad luck");
    }

    /**
     * For work of the same queue, or of another where the queue waits for the call: then work behind the call begins
     * after it.
     */
    @Test
    void hostCallsMaySubmitAndWait() {
        boolean concurrent = backend.has(Capability.CONCURRENT_HOST_CALLS);
        Device several = closed(open(DeviceOptions.builder().queueCount(2)));
        DeviceQueue own = several.queue(0);
        DeviceQueue other = several.queue(concurrent ? 0 : 1);
        Buffer buffer = closed(several.allocator().allocate(PARAMS, 4));
        TimelineSemaphore timeline = semaphore();
        Fence start = fence();
        Fence done = fence();
        Fence behind = fence();
        // Resumed from a timepoint, with its wait on a separate timepoint.
        own.hostCall(
                start,
                done,
                () -> {
                    own.barrier(null, behind, 0);
                    other.fill(at(timeline, 1), at(timeline, 2), buffer, 0, 4, 3, 4, 0);
                    other.barrier(null, at(timeline, 1), 0);
                    at(timeline, 2).await();
                    assertThat(concurrent || !behind.isReached())
                            .as("work behind the call waits")
                            .isTrue();
                },
                0);
        start.signal();
        done.await();
        behind.await();
        assertThat(read(buffer)).containsExactly(3);
    }

    /**
     * Memory without a need of mapping: work of the other queue behind the call, or behind its successors, holds no
     * transfer back.
     */
    @Test
    void aHostCallMovesMemoryDuringAWaitOfAnotherQueue() {
        Device several = closed(open(DeviceOptions.builder().queueCount(2)));
        DeviceQueue own = several.queue(0);
        DeviceQueue other = several.queue(1);
        Buffer buffer = closed(several.allocator().allocate(BufferParams.DEFAULT, 4));
        Buffer behind = closed(several.allocator().allocate(BufferParams.DEFAULT, 4));
        TimelineSemaphore called = semaphore();
        Fence first = fence();
        Fence second = fence();
        own.hostCall(
                null,
                at(called, 1),
                () -> {
                    own.copy(at(called, 1), at(called, 2), buffer, 0, behind, 0, 4, 0);
                    other.fill(at(called, 1), first, buffer, 0, 4, 6, 4, 0);
                    other.fill(at(called, 2), second, behind, 0, 4, 7, 4, 0);
                    buffer.write(0, MemorySegment.ofArray(new int[] {5}));
                },
                0);
        first.await(LONG);
        second.await(LONG);
        int[] found = new int[2];
        buffer.read(0, MemorySegment.ofArray(found).asSlice(0, 4));
        behind.read(0, MemorySegment.ofArray(found).asSlice(4, 4));
        assertThat(found).containsExactly(6, 7);
    }

    /** Storage due for a dealloca never reached by the device goes with the last reference. */
    @Test
    void aDeallocaWaitingAtTheCloseOfTheDeviceLeaksNothing() {
        Fence ready = fence();
        Fence never = fence();
        Fence freed = fence();
        Fence written = fence();
        Buffer buffer = queue.alloca(null, ready, BufferParams.DEFAULT, 1 << 16, 0);
        ready.await();
        assertThat(device.allocator().statistics().bytesLive()).isGreaterThanOrEqualTo(1 << 16);
        queue.fill(never, written, buffer, 0, 4, 1, 4, 0);
        queue.dealloca(never, freed, buffer, 0);
        device.close();
        assertFails(freed, StatusCode.ABORTED, "was closed");
        assertFails(written, StatusCode.ABORTED, "was closed");
        buffer.close();
        assertThat(device.allocator().statistics().bytesLive()).isZero();
    }

    @Test
    void waitBeforeSignalOnTheSameQueue() {
        Buffer buffer = ints(0, 0);
        TimelineSemaphore timeline = semaphore();
        queue.copy(at(timeline, 2), at(timeline, 3), buffer, 0, buffer, 4, 4, 0);
        queue.fill(at(timeline, 1), at(timeline, 2), buffer, 0, 4, 9, 4, 0);
        queue.barrier(null, at(timeline, 1), 0);
        at(timeline, 3).await();
        assertThat(read(buffer)).containsExactly(9, 9);
    }

    @Test
    void laterIndependentWorkOvertakesWaitingWork() {
        Fence never = fence();
        Fence blocked = fence();
        queue.barrier(never, blocked, 0);
        Fence done = fence();
        queue.barrier(null, done, 0);
        done.await();
        assertThat(blocked.isReached()).isFalse();
        never.signal();
        blocked.await();
    }

    @Test
    void waitsForEveryPointOfAFence() {
        TimelineSemaphore a = semaphore();
        TimelineSemaphore b = semaphore();
        Fence both = closed(Fence.of(List.of(new Fence.Entry(a, 1), new Fence.Entry(b, 1))));
        Fence done = fence();
        queue.barrier(both, done, 0);
        a.signal(1);
        assertThat(done.isReached()).isFalse();
        b.signal(1);
        done.await();
    }

    @Test
    void aChainOfFiftyThousandOperationsRunsInOrder() {
        int length = 50_000;
        Buffer counter = ints(0, 0);
        TimelineSemaphore timeline = semaphore();
        AtomicInteger ran = new AtomicInteger();
        // Submitted backwards, for a wait of every operation.
        for (int i = length; i >= 1; i--) {
            int turn = i;
            try (Fence wait = Fence.at(timeline, i);
                    Fence signal = Fence.at(timeline, i + 1L)) {
                queue.hostCall(
                        wait, signal, () -> assertThat(ran.incrementAndGet()).isEqualTo(turn), 0);
            }
        }
        timeline.signal(1);
        at(timeline, length + 1L).await();
        assertThat(ran).hasValue(length);
        assertThat(read(counter)).containsExactly(0, 0);
    }

    @Test
    void aFailedWaitFailsTheSignalWithTheRootCause() {
        TimelineSemaphore a = semaphore();
        TimelineSemaphore b = semaphore();
        TimelineSemaphore c = semaphore();
        queue.barrier(at(a, 1), at(b, 1), 0);
        queue.barrier(at(b, 1), at(c, 1), 0);
        a.fail(LOST);
        assertThat(b.failure()).isSameAs(LOST);
        assertThat(c.failure()).isSameAs(LOST);
        Fence late = fence();
        queue.barrier(at(c, 1), late, 0);
        assertThat(late.failure()).containsSame(LOST);
        Fence unrelated = fence();
        queue.barrier(null, unrelated, 0);
        unrelated.await();
    }

    @Test
    void workWithoutAPossibleSignalIsCancelled() {
        Fence done = fence();
        try (TimelineSemaphore orphan = device.createSemaphore(0, 0);
                Fence wait = Fence.at(orphan, 1)) {
            queue.barrier(wait, done, 0);
        }
        assertFails(done, StatusCode.CANCELLED, "closed before it reached 1");
    }

    @Test
    void aLongChainFailsAndIsCancelledWithoutRecursion() {
        for (boolean orphan : new boolean[] {false, true}) {
            TimelineSemaphore first = device.createSemaphore(0, 0);
            TimelineSemaphore previous = first;
            for (int i = 0; i < 20_000; i++) {
                TimelineSemaphore next = device.createSemaphore(0, 0);
                try (Fence wait = Fence.at(previous, 1);
                        Fence signal = Fence.at(next, 1)) {
                    queue.barrier(wait, signal, 0);
                }
                if (i > 0) {
                    previous.close(); // kept by the signalling operation
                }
                previous = next;
            }
            if (!orphan) {
                first.fail(LOST);
            }
            first.close();
            try (Fence last = Fence.at(previous, 1)) {
                assertFails(last, orphan ? StatusCode.CANCELLED : StatusCode.DATA_LOSS, "");
            }
            previous.close();
        }
    }

    @Test
    void aSignalGoingBackFailsItsTimeline() {
        TimelineSemaphore timeline = semaphore();
        timeline.signal(5);
        queue.barrier(null, at(timeline, 3), 0);
        assertThat(timeline.failure()).isNotNull();
        assertThat(timeline.failure().code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
    }

    @Test
    void errorsGoToTheSignalOrElseToTheCaller() {
        Buffer buffer = ints(1, 2);
        Fence done = fence();
        queue.fill(null, done, buffer, 4, 8, 0, 4, 0);
        assertFails(done, StatusCode.OUT_OF_RANGE, "fill target [4, 12) does not fit buffer of 8 bytes");
        assertFails(
                StatusCode.OUT_OF_RANGE,
                "fill target [4, 12) does not fit buffer of 8 bytes",
                () -> queue.fill(null, null, buffer, 4, 8, 0, 4, 0));
    }

    @Test
    void transfersAreChecked() {
        Buffer buffer = ints(1, 2, 3, 4);
        Fence pattern = fence();
        queue.fill(null, pattern, buffer, 0, 4, 0, 3, 0);
        assertFails(pattern, StatusCode.INVALID_ARGUMENT, "fill pattern has 3 bytes");
        Fence alignment = fence();
        queue.fill(null, alignment, buffer, 2, 4, 0, 4, 0);
        assertFails(alignment, StatusCode.INVALID_ARGUMENT, "fill of 4 bytes at offset 2 is not aligned");
        Fence overlap = fence();
        queue.copy(null, overlap, buffer, 0, closed(buffer.subspan(4, 8)), 0, 8, 0);
        assertFails(overlap, StatusCode.INVALID_ARGUMENT, "copy source [0, 8) and target [4, 12) overlap");
        Fence target = fence();
        queue.copy(null, target, buffer, 0, ints(0), 0, 8, 0);
        assertFails(target, StatusCode.OUT_OF_RANGE, "copy target [0, 8) does not fit buffer of 4 bytes");
        Fence update = fence();
        queue.update(null, update, bytes(1, 2), ints(0), 0, 0);
        assertFails(update, StatusCode.OUT_OF_RANGE, "update target [0, 8)");
    }

    @Test
    void closingTheDeviceFailsWaitingWork() {
        Device other = open(DeviceOptions.builder());
        Fence wait = fence();
        Fence filled = fence();
        Fence after = fence();
        Buffer buffer = closed(other.allocator().allocate(PARAMS, 64));
        Buffer later = closed(other.queue(0).alloca(wait, fence(), PARAMS, 64, 0));
        other.queue(0).fill(wait, filled, buffer, 0, 64, 0, 1, 0);
        other.queue(0).barrier(filled, after, 0);
        other.close();
        other.close();
        assertFails(filled, StatusCode.ABORTED, "was closed while fill waited to run");
        assertFails(after, StatusCode.ABORTED, "was closed");
        assertFails(StatusCode.ABORTED, "was closed", () -> later.map(MemoryAccess.READ, 0, 4));
        wait.signal();
        Fence refused = fence();
        other.queue(0).barrier(null, refused, 0);
        assertFails(refused, StatusCode.FAILED_PRECONDITION, "is closed");
        assertFails(
                StatusCode.FAILED_PRECONDITION,
                "is closed",
                () -> other.allocator().allocate(PARAMS, 1));
        assertFails(StatusCode.FAILED_PRECONDITION, "is closed", () -> other.createCommandBuffer(0, 3, 0, 0));
        assertThat(buffer.map(MemoryAccess.READ, 0, 4).byteSize()).isEqualTo(4);
    }

    @Test
    void queuesAreChosenByAffinity() {
        Device many = closed(open(DeviceOptions.builder().queueCount(3)));
        assertThat(many.queueCount()).isEqualTo(3);
        assertThat(many.queueFor(0)).isSameAs(many.queue(0));
        assertThat(many.queueFor(-1)).isSameAs(many.queue(0));
        assertThat(many.queueFor(0b110)).isSameAs(many.queue(1));
        assertFails(
                StatusCode.INVALID_ARGUMENT,
                "affinity 0x8 names none of the device's 3 queues",
                () -> many.queueFor(8));
        assertFails(StatusCode.OUT_OF_RANGE, "queue 3", () -> many.queue(3));
        assertThat(many.queryI64("hal.device", "concurrency")).hasValue(3);
        assertThat(many.queryI64("no.such", "question")).isEmpty();
    }

    @Test
    void manyThreadsShareAQueue() throws Exception {
        Executable kernels = closed(kernels(device));
        List<Thread> threads = new ArrayList<>();
        AtomicInteger good = new AtomicInteger();
        for (int t = 0; t < 8; t++) {
            int base = t * 1000;
            threads.add((t % 2 == 0 ? Thread.ofVirtual() : Thread.ofPlatform()).start(() -> {
                try (TimelineSemaphore timeline = device.createSemaphore(0, 0);
                        Buffer in = device.allocator().allocate(PARAMS, 4);
                        Buffer out = device.allocator().allocate(PARAMS, 4)) {
                    for (int i = 1; i <= 500; i++) {
                        in.map(MemoryAccess.WRITE, 0, 4).set(INT, 0, base + i);
                        try (Fence done = Fence.at(timeline, i)) {
                            queue.dispatch(
                                    null,
                                    done,
                                    kernels,
                                    JavaKernels.SCALE,
                                    DispatchConfig.of(1, 1, 1),
                                    new int[] {2, 1},
                                    BindingTable.of(in, out),
                                    0);
                            done.await();
                        }
                        if (read(out)[0] == (base + i) * 2 + 1) {
                            good.incrementAndGet();
                        }
                    }
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(good).hasValue(8 * 500);
    }

    @Test
    void usageIsChecked() {
        BufferParams noTransfer =
                new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DISPATCH_STORAGE, MemoryAccess.READ, -1, 0);
        Buffer buffer = closed(device.allocator().allocate(noTransfer, 8));
        Fence done = fence();
        queue.fill(null, done, buffer, 0, 8, 0, 8, 0);
        assertFails(done, StatusCode.PERMISSION_DENIED, "fill target needs a buffer with");
    }

    /** Updates longer than a command buffer takes, and copies of the written bytes. */
    @Test
    void updatesAndCopiesAgreeWithALoopWhateverTheRange() {
        long seed = Effort.seed(20261125);
        Random random = new Random(seed);
        for (int round = 0; round < 40; round++) {
            int length = round % 8 == 0 ? 170_000 + random.nextInt(100) : random.nextInt(600);
            int offset = random.nextInt(70);
            int from = random.nextInt(70);
            byte[] host = new byte[length + 20];
            random.nextBytes(host);
            byte[] expected = new byte[length + 200];
            System.arraycopy(host, 7, expected, offset, length);
            Fence updated = fence();
            Fence done = fence();
            try (Buffer source = device.allocator().allocate(PARAMS, length + 100);
                    Buffer target = device.allocator().allocate(PARAMS, expected.length)) {
                target.map(MemoryAccess.WRITE, 0, Buffer.WHOLE).fill((byte) 0);
                queue.copy(updated, done, source, from, target, offset, length, 0);
                queue.update(null, updated, MemorySegment.ofArray(host).asSlice(7, length), source, from, 0);
                done.await();
                assertThat(target.map(MemoryAccess.READ, 0, Buffer.WHOLE).toArray(ValueLayout.JAVA_BYTE))
                        .as("seed %d, round %d", seed, round)
                        .isEqualTo(expected);
            }
        }
    }

    @Test
    void barriersKeepTheOrderOfTheWorkAroundThem() {
        Buffer first = ints(0, 0);
        Buffer second = ints(0, 0);
        TimelineSemaphore timeline = semaphore();
        queue.fill(null, at(timeline, 1), first, 0, 8, 5, 4, 0);
        queue.barrier(at(timeline, 1), at(timeline, 2), 0);
        queue.copy(at(timeline, 2), at(timeline, 3), first, 0, second, 0, 8, 0);
        queue.barrier(at(timeline, 3), at(timeline, 4), 0);
        queue.fill(at(timeline, 4), at(timeline, 5), first, 0, 4, 6, 4, 0);
        at(timeline, 5).await();
        assertThat(read(first)).containsExactly(6, 5);
        assertThat(read(second)).containsExactly(5, 5);
    }

    @Test
    void aBurstOfIndependentCopiesIsMade() {
        int count = 500;
        int[] values = new int[count];
        for (int round = 1; round <= 3; round++) {
            Buffer source = ints(round, -round);
            Buffer target = ints(values);
            List<Fence> all = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                Fence done = fence();
                queue.copy(null, done, source, i % 2 * 4L, target, i * 4L, 4, 0);
                all.add(done);
            }
            all.forEach(Fence::await);
            int expected = round;
            assertThat(read(target)).containsOnly(expected, -expected).startsWith(expected, -expected);
        }
    }

    /** Before and after the signal, on the queue of the signal and on another. */
    @Test
    void workWaitsForValuesPassedByASignal() {
        Device several = closed(open(DeviceOptions.builder().queueCount(2)));
        TimelineSemaphore passed = semaphore();
        TimelineSemaphore byHost = semaphore();
        List<Fence> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            all.add(fence());
            several.queue(i % 2).barrier(at(passed, 1 + i / 2), all.getLast(), 0);
            all.add(fence());
            several.queue(i % 2).barrier(at(byHost, 1 + i / 2), all.getLast(), 0);
        }
        assertThat(all).noneMatch(Fence::isReached);
        several.queue(0).barrier(null, at(passed, 3), 0);
        byHost.signal(3);
        all.forEach(each -> each.await(LONG));
        Fence late = fence();
        several.queue(1).barrier(at(passed, 2), late, 0);
        late.await(LONG);
    }
}
