package io.github.iree4j.nativeaccess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class CompletionRingTest {
    private static final Duration LONG = Duration.ofSeconds(50);

    @Test
    void recordsArriveAsPushed() {
        try (CompletionRing ring = CompletionRing.create(4)) {
            for (int lap = 0; lap < 10; lap++) {
                assertThat(ring.push(Long.MIN_VALUE + lap, 8, -7)).isTrue();
                assertThat(ring.push(lap, 0, Integer.MAX_VALUE)).isTrue();
                List<String> taken = new ArrayList<>();
                assertThat(ring.poll(10, (token, status, code) -> taken.add(token + " " + status + " " + code)))
                        .isEqualTo(2);
                assertThat(taken).containsExactly((Long.MIN_VALUE + lap) + " 8 -7", lap + " 0 2147483647");
            }
            assertThat(ring.poll(10, (token, status, code) -> {})).isZero();
        }
    }

    @Test
    void pollTakesNoMoreThanItsLimit() {
        try (CompletionRing ring = CompletionRing.create(8)) {
            for (int i = 0; i < 5; i++) {
                ring.push(i, 0, 0);
            }
            List<Long> taken = new ArrayList<>();
            assertThat(ring.poll(3, (token, status, code) -> taken.add(token))).isEqualTo(3);
            assertThat(ring.poll(3, (token, status, code) -> taken.add(token))).isEqualTo(2);
            assertThat(taken).containsExactly(0L, 1L, 2L, 3L, 4L);
        }
    }

    @Test
    void aThrowingConsumerLosesOnlyItsRecord() {
        try (CompletionRing ring = CompletionRing.create(8)) {
            ring.push(1, 0, 0);
            ring.push(2, 0, 0);
            assertThatThrownBy(() -> ring.poll(8, (token, status, code) -> {
                        throw new IllegalStateException("token " + token);
                    }))
                    .hasMessage("token 1");
            List<Long> taken = new ArrayList<>();
            ring.poll(8, (token, status, code) -> taken.add(token));
            assertThat(taken).containsExactly(2L);
        }
    }

    @Test
    void aLostRecordIsReportedPermanently() {
        try (CompletionRing ring = CompletionRing.create(2)) {
            ring.push(1, 0, 0);
            ring.push(2, 0, 0);
            assertThat(ring.isLossy()).isFalse();
            assertThat(ring.push(3, 0, 0)).isFalse();
            assertThat(ring.isLossy()).isTrue();
            assertThat(ring.poll(2, (token, status, code) -> {})).isEqualTo(2);
            assertThat(ring.push(4, 0, 0)).isTrue();
            assertThat(ring.isLossy()).isTrue();
        }
    }

    @Test
    void awaitEndsOnARecordAWakeOrATimeout() {
        try (CompletionRing ring = CompletionRing.create(2)) {
            assertThat(ring.await(Duration.ofMillis(1))).isFalse();
            ring.wake();
            assertThat(ring.await(LONG)).isTrue();
            ring.push(1, 0, 0);
            assertThat(ring.await(LONG)).isTrue();
        }
    }

    // RING-1: a producer's writes before its push are visible to the polling thread, and no record is lost or torn.
    @Test
    void pollSeesWhatProducersWroteBefore() throws Exception {
        int producers = 3;
        int perProducer = 20_000;
        int capacity = 64;
        long[][] payload = new long[producers][perProducer];
        Semaphore places = new Semaphore(capacity);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        try (CompletionRing ring = CompletionRing.create(capacity)) {
            List<Thread> threads = new ArrayList<>();
            for (int p = 0; p < producers; p++) {
                int id = p;
                threads.add(Thread.ofPlatform().start(() -> {
                    try {
                        for (int i = 0; i < perProducer; i++) {
                            places.acquire();
                            payload[id][i] = ~(long) i;
                            assertThat(ring.push((long) id << 32 | i, id, i)).isTrue();
                        }
                    } catch (Throwable e) {
                        failure.set(e);
                        ring.wake();
                    }
                }));
            }
            int[] next = new int[producers];
            for (int total = 0; total < producers * perProducer && failure.get() == null; ) {
                assertThat(ring.await(LONG)).isTrue();
                int count = ring.poll(32, (token, status, code) -> {
                    int id = (int) (token >>> 32);
                    int i = (int) token;
                    assertThat(i).isEqualTo(next[id]++);
                    assertThat(status).isEqualTo(id);
                    assertThat(code).isEqualTo(i);
                    assertThat(payload[id][i]).isEqualTo(~(long) i);
                });
                places.release(count);
                total += count;
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(failure.get()).isNull();
            assertThat(ring.isLossy()).isFalse();
        }
    }

    @Test
    void virtualThreadsMayNotAwait() throws Exception {
        try (CompletionRing ring = CompletionRing.create(2)) {
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            Thread.startVirtualThread(() -> {
                        try {
                            ring.await(Duration.ZERO);
                        } catch (Throwable e) {
                            thrown.set(e);
                        }
                    })
                    .join();
            assertThat(thrown.get()).isInstanceOf(IreeException.class).hasMessageContaining("virtual thread");
        }
    }

    @Test
    void badCapacitiesAreRefused() {
        for (int capacity : new int[] {-1, 0, 1, 3, 1 << 21}) {
            assertThatThrownBy(() -> CompletionRing.create(capacity))
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT))
                    .hasMessageContaining("power of two");
        }
    }

    @Test
    void closedRingsThrowAndClosingIsIdempotent() {
        CompletionRing ring = CompletionRing.create(2);
        ring.close();
        ring.close();
        assertThatThrownBy(() -> ring.push(1, 0, 0)).hasMessageContaining("is closed");
        assertThatThrownBy(() -> ring.poll(1, (token, status, code) -> {})).hasMessageContaining("is closed");
        assertThatThrownBy(() -> ring.await(Duration.ZERO)).hasMessageContaining("is closed");
        assertThatThrownBy(ring::isLossy).hasMessageContaining("is closed");
    }

    @Test
    void closingDuringAwaitFreesTheRingAfterwards() throws Exception {
        for (int round = 0; round < 200; round++) {
            CompletionRing ring = CompletionRing.create(2);
            CountDownLatch started = new CountDownLatch(1);
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            Thread poller = Thread.ofPlatform().start(() -> {
                started.countDown();
                try {
                    ring.await(LONG);
                } catch (IreeException e) {
                    thrown.set(e); // closed first
                }
            });
            started.await();
            ring.wake();
            ring.close();
            poller.join();
            assertThat(ring.isLive()).isFalse();
            if (thrown.get() != null) {
                assertThat(thrown.get()).hasMessage("completion ring of 2 records is closed");
            }
        }
    }
}
