package io.github.iree4j.hal.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Cancellation;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StagingTest {
    private static final int SLOTS = 16;

    private final Arena arena = Arena.ofShared();
    private final AtomicInteger taken = new AtomicInteger();
    private final AtomicInteger given = new AtomicInteger();
    private long most = Long.MAX_VALUE;
    private final Staging staging = new Staging(size -> {
        if (size > most) {
            throw new IreeException(StatusCode.RESOURCE_EXHAUSTED, "no " + size + " bytes");
        }
        taken.incrementAndGet();
        MemorySegment bytes = arena.allocate(size, 256);
        return new StreamMemory.Block(new StreamStorage(null, 1, 1, 0, size, 0, bytes), given::incrementAndGet);
    });

    @AfterEach
    void free() {
        arena.close();
    }

    private Staging.Lease lease(int size) {
        List<Staging.Lease> granted = new ArrayList<>();
        staging.lease(size, granted::add);
        return granted.getFirst();
    }

    @Test
    void takesNoMoreThanItsSlotsHowEverMuchIsWanted() {
        List<Staging.Lease> held = new ArrayList<>();
        List<Staging.Lease> late = new ArrayList<>();
        for (int i = 0; i < SLOTS; i++) {
            held.add(lease(Staging.SLOT));
        }
        assertThat(staging.tryLease(1)).isNull();
        for (int i = 0; i < 100; i++) {
            staging.lease(Staging.SLOT, late::add);
        }
        assertThat(late).isEmpty();
        held.removeFirst().close();
        assertThat(late).hasSize(1);
        assertThat(taken).hasValue(1);
    }

    @Test
    void whoCameFirstIsServedFirstAndWhoLeftIsNot() {
        List<Staging.Lease> held = new ArrayList<>();
        for (int i = 0; i < SLOTS; i++) {
            held.add(lease(Staging.SLOT));
        }
        List<String> served = new ArrayList<>();
        staging.lease(Staging.SLOT, lease -> served.add("first"));
        Cancellation second = staging.lease(Staging.SLOT, lease -> served.add("second"));
        staging.lease(Staging.SLOT, lease -> served.add("third"));
        assertThat(second.cancel()).isTrue();
        assertThat(second.cancel()).isFalse();
        held.get(0).close();
        held.get(0).close(); // harmless
        assertThat(served).containsExactly("first");
        held.get(1).close();
        assertThat(served).containsExactly("first", "third");
    }

    @Test
    void smallTransfersShareASlotUntilAllAreOver() {
        List<Staging.Lease> small = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            small.add(lease(1000));
        }
        for (int i = 1; i < SLOTS; i++) {
            assertThat(staging.tryLease(Staging.SLOT)).isNotNull();
        }
        assertThat(staging.tryLease(Staging.SLOT)).isNull();
        small.subList(1, 100).forEach(Staging.Lease::close);
        assertThat(staging.tryLease(Staging.SLOT)).isNull();
        small.getFirst().close();
        assertThat(staging.tryLease(Staging.SLOT)).isNotNull();
    }

    @Test
    void aDeviceWithLittleMemoryHasOneSlot() {
        most = Staging.SLOT;
        Staging.Lease only = lease(Staging.SLOT);
        assertThat(staging.tryLease(1)).isNull();
        only.close();
        assertThat(staging.tryLease(1)).isNotNull();
    }

    @Test
    void withoutMemoryTheFailureIsTheDevices() {
        most = 0;
        assertThatThrownBy(() -> lease(1))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
    }

    @Test
    void memoryGoesBackWithTheLastLeaseAfterClosing() {
        Staging.Lease held = lease(5);
        staging.close();
        assertThat(given).hasValue(0);
        held.close();
        assertThat(given).hasValue(1);
        assertThatThrownBy(() -> lease(5)).hasMessageContaining("closed");
    }

    // STAGE-1: bytes are lent to one at a time.
    // STAGE-2: every requester in line is served.
    @Test
    void bytesAreLentToOneAtATimeAndEveryRequesterIsServed() throws InterruptedException {
        long seed = Effort.seed(StagingTest.class, "lent", 7);
        int rounds = Effort.rounds(500, 20_000);
        AtomicInteger damaged = new AtomicInteger();
        CountDownLatch served = new CountDownLatch(4 * rounds);
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            int thread = t;
            threads.add(Thread.ofPlatform().start(() -> {
                Random random = new Random(seed + thread);
                for (int round = 0; round < rounds; round++) {
                    int size = random.nextInt(4) == 0 ? Staging.SLOT : 1 + random.nextInt(Staging.SLOT);
                    int mark = thread * rounds + round;
                    staging.lease(size, lease -> {
                        MemorySegment bytes = lease.storage.mapped();
                        if (size > 4) {
                            bytes.set(ValueLayout.JAVA_INT_UNALIGNED, 0, mark);
                        }
                        bytes.set(ValueLayout.JAVA_BYTE, size - 1, (byte) mark);
                        Thread.onSpinWait();
                        boolean whole = bytes.get(ValueLayout.JAVA_BYTE, size - 1) == (byte) mark
                                && (size < 5 || bytes.get(ValueLayout.JAVA_INT_UNALIGNED, 0) == mark);
                        damaged.addAndGet(whole ? 0 : 1);
                        lease.close();
                        served.countDown();
                    });
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        served.await();
        assertThat(damaged).as("seed %d", seed).hasValue(0);
        staging.close();
        assertThat(given).hasValue(1);
    }
}
