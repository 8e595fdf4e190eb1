package io.github.iree4j.async;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Claim: a waiter for a frontier, cancelled while the last missing epoch arrives, is called or cancelled, never both
 * and never neither.
 *
 * <p>TRACK-3: the thread unlinking the waiter owns the waiter.
 */
@JCStressTest
@Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "called once; cancelling came too late")
@Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "cancelled; never called")
@Outcome(expect = Expect.FORBIDDEN, desc = "called and cancelled, called twice, or forgotten")
@State
public class FrontierWaiterIsCalledOrCancelled {
    private static final long FIRST = Axis.of(1, 0, CausalDomain.QUEUE, 0);
    private static final long SECOND = Axis.of(1, 0, CausalDomain.QUEUE, 1);

    private final FrontierTracker tracker = FrontierTracker.create();
    private int called;
    private int cancelled;
    private final Cancellation waiter;

    /** For jcstress. */
    public FrontierWaiterIsCalledOrCancelled() {
        tracker.register(FIRST);
        tracker.register(SECOND);
        Frontier both = Frontier.of(FIRST, 1).insertOrRaise(SECOND, 1);
        waiter = tracker.whenCompleted(both, failure -> called++);
    }

    /** Makes the waiter due; the waiter moves from one axis to the other in between. */
    @Actor
    public void advancer() {
        tracker.advance(FIRST, 1);
        tracker.advance(SECOND, 1);
    }

    /** Cancels the waiter. */
    @Actor
    public void canceller() {
        cancelled = waiter.cancel() ? 1 : 0;
    }

    /** Numbers of calls and of cancellations. */
    @Arbiter
    public void outcome(II_Result r) {
        r.r1 = called;
        r.r2 = cancelled;
    }
}
