package io.github.iree4j.async;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What fences promise, signal and retain. */
class FenceTest {
    private static final IreeException LOST = new IreeException(StatusCode.DATA_LOSS, "lost on purpose");
    private static final Frontier FRONTIER = Frontier.producedBy(Axis.of(1, 0, CausalDomain.QUEUE, 1), 5);

    private final TimelineSemaphore a = TimelineSemaphore.create(0);
    private final TimelineSemaphore b = TimelineSemaphore.create(0);

    private Fence both(long valueA, long valueB) {
        return Fence.of(List.of(new Fence.Entry(a, valueA), new Fence.Entry(b, valueB)));
    }

    @Test
    void adoptedTimelineIsReleasedWithItsFence() {
        Fence fence = Fence.adopt(a, 1);
        fence.close();
        assertThat(a.isLive()).isFalse();
    }

    @Test
    void fenceOfAClosedTimelineRetainsNothing() {
        b.close();
        assertThatExceptionOfType(IreeException.class).isThrownBy(() -> both(1, 1));
        a.close();
        assertThat(a.isLive()).isFalse();
    }

    @Test
    void promisesEveryPointThatTakesOne() {
        try (Fence fence = both(1, 2)) {
            a.signal(1);
            fence.promise(FRONTIER);
            assertThat(b.frontierAt(2)).isEqualTo(FRONTIER);
        }
    }

    @Test
    void signallingPassesOnTheFrontier() {
        try (Fence fence = both(1, 2)) {
            fence.signalOrFail(FRONTIER);
            assertThat(a.frontierAt(1)).isEqualTo(FRONTIER);
            assertThat(b.frontierAt(2)).isEqualTo(FRONTIER);
        }
    }

    @Test
    void aTimelineAlreadyAtTheValueFails() {
        try (Fence fence = both(1, 2)) {
            a.signal(1);
            fence.signalOrFail(FRONTIER);
            assertThat(a.failure()).isNotNull().extracting(IreeException::code).isEqualTo(StatusCode.INVALID_ARGUMENT);
            assertThat(b.value()).isEqualTo(2);
            assertThat(b.failure()).isNull();
        }
    }

    @Test
    void cancelledFutureEndsItsWait() {
        try (Fence fence = both(1, 1)) {
            var future = fence.toCompletableFuture();
            assertThat(a.isAwaited()).isTrue();
            future.cancel(false);
            assertThat(a.isAwaited()).isFalse();
            assertThat(b.isAwaited()).isFalse();
        }
    }

    @Test
    void failureOfOnePointEndsTheWaitsForTheOthers() {
        try (Fence fence = both(1, 1)) {
            fence.whenReached(failure -> {});
            assertThat(a.isAwaited()).isTrue();
            b.fail(LOST);
            assertThat(a.isAwaited()).isFalse();
        }
    }

    @Test
    void wholeWaitIsCancelled() {
        try (Fence fence = both(1, 1)) {
            fence.whenReached(failure -> {}).cancel();
            assertThat(a.isAwaited()).isFalse();
            assertThat(b.isAwaited()).isFalse();
        }
    }

    @Test
    void earlierFailureLeavesNoWait() {
        a.fail(LOST);
        try (Fence fence = both(1, 1)) {
            fence.whenReached(failure -> {});
            assertThat(b.isAwaited()).isFalse();
        }
    }
}
