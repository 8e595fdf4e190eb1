package io.github.iree4j.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Claims about marks: no value is missed between two readings, and none is invented. */
class HighWaterTest {

    @Test
    void aReadingIsTheHighestValueSinceTheReadingBefore() {
        HighWater mark = new HighWater();
        AtomicLong number = new AtomicLong();
        for (int each : new int[] {1, 7, 3}) {
            number.set(each);
            mark.raise(each);
        }
        assertThat(mark.take(number::get)).isEqualTo(7);
        assertThat(mark.take(number::get)).as("nothing was higher than now").isEqualTo(3);
        number.set(0);
        assertThat(mark.take(number::get)).as("the interval began with 3").isEqualTo(3);
        assertThat(mark.take(number::get)).isZero();
    }

    /** Of a number going up and down on many threads, the readings have the true maximum, and nothing above. */
    @Test
    void noReaderMissesTheHighestOfManyThreads() throws Exception {
        for (int round = 0; round < Effort.rounds(200); round++) {
            HighWater mark = new HighWater();
            AtomicInteger number = new AtomicInteger();
            AtomicInteger highest = new AtomicInteger();
            long read = 0;
            try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
                List<Future<?>> all = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                    all.add(threads.submit(() -> {
                        for (int j = 0; j < 100; j++) {
                            int now = number.incrementAndGet();
                            highest.accumulateAndGet(now, Math::max);
                            mark.raise(now);
                            number.decrementAndGet();
                        }
                    }));
                }
                while (!all.stream().allMatch(Future::isDone)) {
                    read = Math.max(read, mark.take(number::get));
                }
                for (Future<?> each : all) {
                    each.get();
                }
            }
            assertThat(Math.max(read, mark.take(number::get))).isEqualTo(highest.get());
        }
    }
}
