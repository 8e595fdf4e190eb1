package io.github.iree4j.async;

import io.github.iree4j.Effort;
import io.github.iree4j.Lincheck;
import io.github.iree4j.LincheckOptions;
import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/**
 * TRACK-2, TRACK-3: a tracker is linearizable, and in the end every waiter was called, cancelled or still misses an epoch. Model checking
 * assumes sequential consistency; the jcstress claims cover memory ordering.
 */
@Lincheck
@Param(name = "epoch", gen = IntGen.class, conf = "1:3")
public class FrontierTrackerLincheckTest {
    private static final long FIRST = Axis.of(1, 0, CausalDomain.QUEUE, 0);
    private static final long SECOND = Axis.of(1, 0, CausalDomain.HOST, 0);

    /** The outcome of a waiter. */
    private static final class Waiting {
        final Frontier frontier;
        final AtomicInteger called = new AtomicInteger();
        volatile Cancellation cancellation = () -> false;
        volatile boolean cancelled;

        Waiting(Frontier frontier) {
            this.frontier = frontier;
        }
    }

    private final FrontierTracker tracker = FrontierTracker.create();
    private final Waiting waiting = new Waiting(Frontier.of(FIRST, 2).insertOrRaise(SECOND, 1));

    /** The waiter under test exists from the start; others are distinguished by their results. */
    public FrontierTrackerLincheckTest() {
        tracker.register(FIRST);
        tracker.register(SECOND);
        waiting.cancellation = tracker.whenCompleted(waiting.frontier, failure -> waiting.called.incrementAndGet());
    }

    @Operation
    public void advanceFirst(@Param(name = "epoch") int epoch) {
        tracker.advance(FIRST, epoch);
    }

    @Operation
    public void advanceSecond(@Param(name = "epoch") int epoch) {
        tracker.advance(SECOND, epoch);
    }

    /** Returns the completed epoch of an axis. */
    @Operation
    public long completedFirst() {
        return tracker.completed(FIRST);
    }

    /** Returns whether a new wait is over at once; cancelled otherwise. */
    @Operation
    public boolean isComplete(@Param(name = "epoch") int epoch) {
        Cancellation wait =
                tracker.whenCompleted(Frontier.of(FIRST, epoch).insertOrRaise(SECOND, epoch), failure -> {});
        return !wait.cancel();
    }

    @Operation
    public void failSecond() {
        tracker.fail(SECOND, IreeException.of(StatusCode.ABORTED, "device is lost"));
    }

    /** Returns whether the waiter was cancelled: not after the completion of its frontier, even before the call. */
    @Operation
    public boolean cancel() {
        boolean cancelled = waiting.cancellation.cancel();
        if (cancelled) {
            waiting.cancelled = true;
        }
        return cancelled;
    }

    /** No waiter is lost or called twice. */
    @Validate
    public void isCalledOrCancelledOrStillMissesAnEpoch() {
        int called = waiting.called.get();
        boolean due = waiting.frontier.isCompleted(tracker) || tracker.failure(SECOND) != null;
        boolean right = waiting.cancelled ? called == 0 : called == (due ? 1 : 0);
        if (!right) {
            throw new IllegalStateException(
                    "called " + called + " times, cancelled " + waiting.cancelled + ", due " + due);
        }
    }

    @Test
    void trackingIsLinearizableUnderModelChecking() {
        LincheckOptions.modelChecking()
                .iterations(Effort.rounds(2, 30))
                .invocationsPerIteration(1_000)
                .threads(2)
                .actorsPerThread(3)
                .check(FrontierTrackerLincheckTest.class);
    }

    @Test
    void trackingIsLinearizableUnderStress() {
        LincheckOptions.stress()
                .iterations(Effort.rounds(2, 10))
                .invocationsPerIteration(1_000)
                .threads(3)
                .actorsPerThread(3)
                .check(FrontierTrackerLincheckTest.class);
    }
}
