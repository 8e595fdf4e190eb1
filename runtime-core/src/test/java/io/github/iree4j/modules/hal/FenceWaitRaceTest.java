package io.github.iree4j.modules.hal;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** WAIT-1: a suspended {@code hal.fence.await} is resumed exactly once, whatever ends the wait first. */
class FenceWaitRaceTest {
    private static final int ROUNDS = 20_000;

    @Test
    void theCallbackRunsOnceWhenSignalsRace() throws Exception {
        race(false);
    }

    @Test
    void theCallbackRunsOnceWhenAFailureRacesASignal() throws Exception {
        race(true);
    }

    private static void race(boolean fail) throws Exception {
        CyclicBarrier barrier = new CyclicBarrier(2);
        Fence[] fences = new Fence[2];
        Thread other = Thread.ofPlatform().start(() -> {
            for (int round = 0; round < ROUNDS; round++) {
                await(barrier);
                if (fail) {
                    fences[1].fail(IreeException.of(StatusCode.ABORTED, "lost"));
                } else {
                    fences[1].signal();
                }
                await(barrier);
            }
        });
        for (int round = 0; round < ROUNDS; round++) {
            try (TimelineSemaphore first = TimelineSemaphore.create(0);
                    TimelineSemaphore second = TimelineSemaphore.create(0)) {
                fences[0] = Fence.at(first, 1);
                fences[1] = Fence.at(second, 1);
                FenceWait wait = new FenceWait(List.of(fences), -1);
                AtomicInteger calls = new AtomicInteger();
                if (round % 2 == 0) {
                    wait.whenReady(calls::incrementAndGet);
                    await(barrier);
                } else {
                    await(barrier);
                    wait.whenReady(calls::incrementAndGet);
                }
                fences[0].signal();
                await(barrier);
                assertThat(calls).as("round " + round).hasValue(1);
                assertThat(wait.isReady()).isTrue();
                fences[0].close();
                fences[1].close();
            }
        }
        other.join();
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
