package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class RecordRingsTest {
    private static final int THREADS = 4;

    private static void record(RecordRings rings, int size, long mark) {
        long now = rings.now();
        RecordRing ring = rings.hold(now);
        try {
            ring.begin(RecordType.HELD, size, now);
            for (int i = 0; i < size; i++) {
                ring.put(mark);
            }
        } finally {
            ring.release();
        }
    }

    /** REC-1: returning readers get each record once, whole and in order, as long as no record makes room. */
    @Test
    void readersGetEachRecordOnceWhileThreadsRecord() throws Exception {
        RecordRings rings = RecordRings.create(64 << 20, 4, System::nanoTime);
        int each = 20_000;
        List<Future<?>> writers = new ArrayList<>();
        Map<Long, Integer> found = new HashMap<>();
        try (ExecutorService pool = Executors.newFixedThreadPool(THREADS)) {
            for (int i = 0; i < THREADS; i++) {
                long mark = i;
                writers.add(pool.submit(() -> {
                    for (int j = 0; j < each; j++) {
                        record(rings, 1 + j % 5, mark);
                    }
                }));
            }
            long next = 0;
            boolean over;
            do {
                over = writers.stream().allMatch(Future::isDone);
                long cut = rings.cut();
                RecordWords records = rings.copy(next, cut);
                assertThat(records.count()).isEqualTo((int) (cut - next));
                for (int i = 0; i < records.count(); i++) {
                    assertThat(records.word(i, 1)).isEqualTo(next + i);
                    long mark = records.word(i, 3);
                    for (int j = 3; j < RecordType.words(records.word(i, 0)); j++) {
                        assertThat(records.word(i, j)).isEqualTo(mark);
                    }
                    found.merge(mark, 1, Integer::sum);
                }
                next = cut;
            } while (!over);
            for (Future<?> writer : writers) {
                writer.get();
            }
        }
        assertThat(found)
                .hasSize(THREADS)
                .allSatisfy((mark, count) -> assertThat(count).isEqualTo(each));
    }

    /** A writer waits neither for a reader copying a stripe, nor for a writer without a processor. */
    @Test
    void writerTakesAnotherStripeWhileItsOwnIsHeld() {
        RecordRings rings = RecordRings.create(1 << 20, 1, () -> 0);
        RecordRing own = rings.hold(0);
        record(rings, 3, 7);
        own.release();
        RecordWords found = rings.copy(0, rings.cut());
        assertThat(found.count()).isEqualTo(1);
        assertThat(found.word(0, 3)).isEqualTo(7);
    }

    @Test
    void drainTakesEachRecordOnceOrCountsTheRecord() throws Exception {
        RecordRings rings = RecordRings.create(1 << 20, 1, System::nanoTime);
        long taken = 0;
        for (int i = 0; i < 200_000; i++) {
            record(rings, 3, i);
            if (i % 50_000 == 0) {
                taken += rings.drain(rings.cut()).count();
            }
        }
        taken += rings.drain(rings.cut()).count();
        assertThat(taken + rings.dropped()).isEqualTo(200_000);
        assertThat(rings.dropped()).isPositive();
        assertThat(rings.drain(rings.cut()).count()).isZero();
    }
}
