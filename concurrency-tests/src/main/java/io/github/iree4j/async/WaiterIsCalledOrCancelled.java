package io.github.iree4j.async;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Claim: a waiter cancelled while the timeline is signalled is called or cancelled, never both and never neither.
 *
 * <p>SEM-2: the thread unlinking the waiter owns the waiter.
 */
@JCStressTest
@Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "called once; cancelling came too late")
@Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "cancelled; never called")
@Outcome(expect = Expect.FORBIDDEN, desc = "called and cancelled, called twice, or forgotten")
@State
public class WaiterIsCalledOrCancelled {
    private final TimelineSemaphore timeline = TimelineSemaphore.create(0);
    private int called;
    private int cancelled;
    private final Cancellation waiter = timeline.whenReached(1, (value, failure) -> called++);

    /** For jcstress. */
    public WaiterIsCalledOrCancelled() {}

    /** Makes the waiter due. */
    @Actor
    public void signaller() {
        timeline.signal(1);
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
