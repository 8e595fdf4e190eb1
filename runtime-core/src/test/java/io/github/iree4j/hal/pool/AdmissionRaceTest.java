package io.github.iree4j.hal.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * GATE-1, GATE-2, GATE-3, GATE-4, GATE-5: threads asking, becoming due, waiting, leaving and exiting at once, and
 * shutting and opening the gate: each staying call is admitted, never more is held than exists, and nothing stays
 * committed.
 */
@Tag("long")
@Timeout(300)
class AdmissionRaceTest extends MemoryLine {
    private static final int THREADS = 4;
    private static final long LIMIT = 100;

    @Test
    void eachStayingCallIsAdmittedAndNothingStaysCommitted() throws Exception {
        int rounds = Effort.rounds(200, 5_000);
        long seed = Effort.seed(AdmissionRaceTest.class, rounds + " rounds", 1);
        for (int i = 0; i < rounds; i++) {
            round(seed + i);
        }
    }

    private void round(long seed) throws Exception {
        AtomicLong holding = new AtomicLong();
        AdmissionGate gate = builder(LIMIT)
                .pool(FakeSlabs.pieces("f", 1))
                .waste(0)
                .quota("small", 40)
                .build()
                .gate();
        CyclicBarrier start = new CyclicBarrier(THREADS);
        List<CompletableFuture<Void>> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Random random = new Random(seed * THREADS + i);
            CompletableFuture<Void> end = new CompletableFuture<>();
            threads.add(end);
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    start.await();
                    for (int j = 0; j < 20; j++) {
                        call(gate, holding, random);
                    }
                    end.complete(null);
                } catch (Throwable e) {
                    end.completeExceptionally(e);
                }
            });
        }
        for (CompletableFuture<Void> each : threads) {
            assertThat(each).as("seed %d, %s", seed, gate).succeedsWithin(Duration.ofSeconds(60));
        }
        assertThat(gate.committed()).as("seed %d", seed).isZero();
        assertThat(gate.waiting()).as("seed %d", seed).isZero();
        assertThat(gate.quota("small").committed()).as("seed %d", seed).isZero();
    }

    private static void call(AdmissionGate gate, AtomicLong holding, Random random) throws InterruptedException {
        String consumer = random.nextBoolean() ? "small" : "";
        if (random.nextInt(4) == 0) {
            synchronized (holding) { // in place of the lock of the set
                gate.shut(gate.quota(consumer));
                gate.open(gate.quota(consumer));
            }
        }
        long bytes = 1 + random.nextInt(80);
        KnownNeed need = new KnownNeed(bytes, bytes / 4);
        boolean isAhead = random.nextInt(3) == 0;
        Admission call = isAhead ? gate.tryAdmitAhead(consumer, need) : gate.tryAdmit(consumer, need);
        if (call == null && (isAhead || random.nextInt(4) == 0)) {
            CompletableFuture<Admission> told = new CompletableFuture<>();
            call = gate.join(consumer, true, need, isAhead, told::complete);
            if (isAhead && random.nextInt(3) > 0) {
                call.due();
            }
            if (random.nextBoolean() && call.cancel()) {
                assertThat(told).isNotDone();
                return;
            }
            call.due();
            assertThat(told.join()).isSameAs(call);
        } else if (call == null) {
            call = gate.join(consumer, true, need, false, null);
            assertThat(call.await()).isTrue();
        }
        if (isAhead) {
            call.due();
            if (random.nextInt(4) == 0) {
                call.exit(); // in line for the rest or not
                return;
            }
            CompletableFuture<Boolean> whole = new CompletableFuture<>();
            if (!call.mayHold() && call.whenMayHold(() -> whole.complete(true))) {
                whole.join();
            }
            assertThat(call.mayHold()).isTrue();
        }
        assertThat(holding.addAndGet(need.bytes())).as("what all may hold").isLessThanOrEqualTo(LIMIT);
        holding.addAndGet(-need.bytes());
        call.exit();
    }
}
