package io.github.iree4j.lifetime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class UseGuardTest {
    private final AtomicInteger freed = new AtomicInteger();
    private final UseGuard guard = UseGuard.of(() -> "thing", freed::incrementAndGet);

    @Test
    void closingAnIdleObjectFreesIt() {
        assertThat(guard.close()).isTrue();
        assertThat(freed).hasValue(1);
        assertThat(guard.isClosed()).isTrue();
    }

    @Test
    void closingTwiceFreesOnce() {
        guard.close();
        assertThat(guard.close()).isFalse();
        assertThat(freed).hasValue(1);
    }

    @Test
    void lastUseFreesWhenClosedMeanwhile() {
        guard.enter();
        guard.enter();
        guard.close();
        guard.exit();
        assertThat(freed).hasValue(0);
        guard.exit();
        assertThat(freed).hasValue(1);
    }

    @Test
    void useAfterCloseIsRefusedByName() {
        guard.close();
        assertThat(guard.tryEnter()).isFalse();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(guard::enter)
                .withMessage("thing is closed")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.FAILED_PRECONDITION));
    }

    /** FRONT-1: freed once, and never during a use. */
    @Test
    void racingUsersAndClosersFreeOnceAndNeverDuringAUse() throws Exception {
        int users = 3;
        int rounds = 5_000;
        CyclicBarrier start = new CyclicBarrier(users + 1);
        UseGuard[] guards = new UseGuard[rounds];
        AtomicInteger[] frees = new AtomicInteger[rounds];
        for (int i = 0; i < rounds; i++) {
            AtomicInteger count = new AtomicInteger();
            frees[i] = count;
            guards[i] = UseGuard.of(() -> "thing", count::incrementAndGet);
        }
        AtomicInteger freedUnderUse = new AtomicInteger();
        Runnable use = () -> {
            for (int i = 0; i < rounds; i++) {
                await(start);
                if (guards[i].tryEnter()) {
                    freedUnderUse.addAndGet(frees[i].get());
                    guards[i].exit();
                }
                guards[i].close();
            }
        };
        Thread[] threads = new Thread[users];
        for (int t = 0; t < users; t++) {
            threads[t] = Thread.ofPlatform().start(use);
        }
        for (int i = 0; i < rounds; i++) {
            await(start);
            guards[i].close();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(freedUnderUse).hasValue(0);
        assertThat(frees).allSatisfy(count -> assertThat(count).hasValue(1));
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
