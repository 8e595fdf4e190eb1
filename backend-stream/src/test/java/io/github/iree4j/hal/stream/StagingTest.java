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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("long")
class StagingTest {
    private static final int SLOTS = 16;

    private final Arena arena = Arena.ofShared();
    private final AtomicInteger taken = new AtomicInteger();
    private final AtomicInteger given = new AtomicInteger();
    private long most = Long.MAX_VALUE;
    private Runnable meanwhile = () -> {}; // while the driver allocates
    private final Staging staging = new Staging(size -> {
        meanwhile.run();
        if (size > most) {
            throw IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "no " + size + " bytes");
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
        List<IreeException> refused = new ArrayList<>();
        staging.lease(size, granted::add, refused::add);
        if (!refused.isEmpty()) {
            throw refused.getFirst();
        }
        return granted.getFirst();
    }

    private static void unexpected(Staging.Lease granted) {
        throw new AssertionError(granted + " is granted");
    }

    private static void unexpected(IreeException refused) {
        throw new AssertionError(refused);
    }

    /** Runs on another thread, not to be waited for by this thread. */
    private static void elsewhere(Runnable action) {
        try {
            CompletableFuture.runAsync(action).get(30, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void takesNoMoreThanItsSlotsOnAnyDemand() {
        List<Staging.Lease> held = new ArrayList<>();
        List<Staging.Lease> late = new ArrayList<>();
        for (int i = 0; i < SLOTS; i++) {
            held.add(lease(Staging.SLOT));
        }
        assertThat(staging.tryLease(1)).isNull();
        for (int i = 0; i < 100; i++) {
            staging.lease(Staging.SLOT, late::add, StagingTest::unexpected);
        }
        assertThat(late).isEmpty();
        held.removeFirst().close();
        assertThat(late).hasSize(1);
        assertThat(taken).hasValue(1);
    }

    @Test
    void theFirstComerIsServedFirstAndALeaverIsNot() {
        List<Staging.Lease> held = new ArrayList<>();
        for (int i = 0; i < SLOTS; i++) {
            held.add(lease(Staging.SLOT));
        }
        List<String> served = new ArrayList<>();
        staging.lease(Staging.SLOT, lease -> served.add("first"), StagingTest::unexpected);
        Cancellation second = staging.lease(Staging.SLOT, lease -> served.add("second"), StagingTest::unexpected);
        staging.lease(Staging.SLOT, lease -> served.add("third"), StagingTest::unexpected);
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
    void aDeviceWithLittleMemoryHasASingleSlot() {
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

    // STAGE-3: the driver may wait for all work of the device, and then only its caller waits.
    @Test
    void whileTheDriverAllocatesOthersWaitInLine() {
        List<Staging.Lease> late = new ArrayList<>();
        meanwhile = () -> elsewhere(() -> {
            assertThat(staging.tryLease(1)).isNull();
            staging.lease(Staging.SLOT, late::add, StagingTest::unexpected);
            assertThat(staging.lease(1, late::add, StagingTest::unexpected).cancel())
                    .isTrue();
            assertThat(late).isEmpty();
        });
        lease(5);
        assertThat(late).hasSize(1);
        assertThat(taken).hasValue(1);
    }

    @Test
    void aWaiterForMemoryMissingInTheDriverIsRefused() {
        most = 0;
        List<StatusCode> refused = new ArrayList<>();
        meanwhile = () -> elsewhere(() -> staging.lease(5, StagingTest::unexpected, e -> refused.add(e.code())));
        assertThatThrownBy(() -> lease(1)).isInstanceOf(IreeException.class);
        assertThat(refused).containsOnly(StatusCode.RESOURCE_EXHAUSTED).hasSize(2); // a slot was requested, too
        most = Long.MAX_VALUE;
        meanwhile = () -> {};
        lease(1);
    }

    @Test
    void memoryComingAtTheCloseGoesBack() {
        meanwhile = () -> elsewhere(staging::close);
        assertThatThrownBy(() -> lease(5)).hasMessageContaining("closed");
        assertThat(given).hasValue(1);
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

    // STAGE-1: bytes are lent to a single requester at a time.
    // STAGE-2: every requester in line is served.
    @Test
    void bytesAreLentToASingleRequesterAtATimeAndEveryRequesterIsServed() throws InterruptedException {
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
                    staging.lease(
                            size,
                            lease -> {
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
                            },
                            StagingTest::unexpected);
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
