package io.github.iree4j.hal.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

class CallerRunnersTest {
    private final CallerRunners callerRunners = new CallerRunners(3, 2);

    // CALLER-1: a runner is used by one thread at a time, with the writes of its predecessor in sight.
    @Test
    void eachGuestIsLentToOneThreadAtATime() throws Exception {
        AtomicIntegerArray users = new AtomicIntegerArray(256);
        int[] uses = new int[256]; // plain: published with the runner
        AtomicInteger wrong = new AtomicInteger();
        CyclicBarrier start = new CyclicBarrier(4);
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    start.await();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
                for (int i = 0; i < 20_000; i++) {
                    CommandRunner runner = callerRunners.acquire();
                    int index = runner.worker().index;
                    if (users.incrementAndGet(index) != 1) {
                        wrong.incrementAndGet();
                    }
                    uses[index]++;
                    users.decrementAndGet(index);
                    callerRunners.release(runner);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(wrong).hasValue(0);
        int sum = 0;
        for (int each : uses) {
            sum += each;
        }
        assertThat(sum).isEqualTo(4 * 20_000);
    }

    @Test
    void afterAllAreLentThereIsNoneUntilAReturn() {
        List<CommandRunner> lent = new ArrayList<>();
        for (CommandRunner runner; (runner = callerRunners.tryAcquire()) != null; ) {
            lent.add(runner);
        }
        assertThat(lent).hasSize(64);
        assertThat(lent.stream().map(each -> each.worker().index)).doesNotHaveDuplicates();
        callerRunners.release(lent.get(7));
        assertThat(callerRunners.acquire()).isSameAs(lent.get(7));
    }

    @Test
    void aRunnerReturnedAfterTheEndFreesOnlyItsOwnMemory() {
        CallerRunners callerRunners = new CallerRunners(0, 1);
        CommandRunner late = callerRunners.acquire();
        CommandRunner other = callerRunners.acquire();
        late.worker().growLocal(64);
        other.worker().growLocal(64);
        callerRunners.release(other);
        callerRunners.close();
        assertThat(late.worker().hasLocalMemory()).isTrue();
        assertThat(other.worker().hasLocalMemory()).isFalse();
        callerRunners.release(late);
        assertThat(late.worker().hasLocalMemory()).isFalse();
    }
}
