package io.github.iree4j.async;

import io.github.iree4j.Effort;
import io.github.iree4j.Lincheck;
import io.github.iree4j.LincheckOptions;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/**
 * FENCE-1, FENCE-2: a wait for a joined fence and a wait for the first of two end once each, linearizably with signals,
 * failure and cancellation.
 */
@Lincheck
public class FenceLincheckTest {
    private final TimelineSemaphore left = TimelineSemaphore.create(0);
    private final TimelineSemaphore right = TimelineSemaphore.create(0);
    private final Fence atLeft = Fence.at(left, 1);
    private final Fence atRight = Fence.at(right, 1);
    private final Fence both = Fence.of(List.of(new Fence.Entry(left, 1), new Fence.Entry(right, 1)));
    private final AtomicInteger allEnded = new AtomicInteger();
    private final AtomicInteger anyEnded = new AtomicInteger();
    private final Cancellation all = both.whenReached(failure -> allEnded.incrementAndGet());
    private final Cancellation any =
            MultiWait.whenAny(List.of(atLeft, atRight), (index, failure) -> anyEnded.incrementAndGet());
    private volatile boolean allCancelled;
    private volatile boolean anyCancelled;

    /** Returns whether the signal was accepted. */
    @Operation
    public boolean signalLeft() {
        return signal(left);
    }

    /** Returns whether the signal was accepted. */
    @Operation
    public boolean signalRight() {
        return signal(right);
    }

    private static boolean signal(TimelineSemaphore semaphore) {
        try {
            semaphore.signal(1);
            return true;
        } catch (IreeException refused) {
            return false;
        }
    }

    @Operation
    public void failRight() {
        right.fail(IreeException.of(StatusCode.ABORTED, "device is lost"));
    }

    @Operation
    public void cancelAll() {
        if (all.cancel()) {
            allCancelled = true;
        }
    }

    @Operation
    public void cancelAny() {
        if (any.cancel()) {
            anyCancelled = true;
        }
    }

    /** Each ended once if due, and not at all otherwise. */
    @Validate
    public void eachEndedOnce() {
        boolean failed = right.failure() != null;
        boolean allDue = failed || both.isReached();
        boolean anyDue = failed || atLeft.isReached() || atRight.isReached();
        check("all", allEnded.get(), allCancelled, allDue);
        check("any", anyEnded.get(), anyCancelled, anyDue);
    }

    private static void check(String which, int ended, boolean cancelled, boolean due) {
        if (ended != (cancelled || !due ? 0 : 1)) {
            throw new IllegalStateException(
                    which + " ended " + ended + " times, cancelled " + cancelled + ", due " + due);
        }
    }

    @Test
    void waitsEndOnceUnderModelChecking() {
        LincheckOptions.modelChecking()
                .iterations(Effort.rounds(2, 20))
                .invocationsPerIteration(1_000)
                .threads(2)
                .actorsPerThread(3)
                .check(FenceLincheckTest.class);
    }

    @Test
    void waitsEndOnceUnderStress() {
        LincheckOptions.stress()
                .iterations(Effort.rounds(2, 10))
                .invocationsPerIteration(1_000)
                .threads(3)
                .actorsPerThread(2)
                .check(FenceLincheckTest.class);
    }
}
