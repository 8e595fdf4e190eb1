package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * Claim: an operation is issued at most once and ends exactly once, although the queue is closed while the wait is
 * reached.
 *
 * <p>SCHED-1: the thread taking the count of the deferral to zero or below owns the operation.
 */
@JCStressTest
@Outcome(
        id = "(ran|did not run: ABORTED), (ran|did not run: ABORTED)",
        expect = Expect.ACCEPTABLE,
        desc = "each of the two ran or was failed")
@Outcome(expect = Expect.FORBIDDEN, desc = "twice, never, or half")
@State
public class HeldOperationIsIssuedOrAborted {
    private final TimelineSemaphore awaited = TimelineSemaphore.create(0);
    private final Fence wait = Fence.at(awaited, 1);
    private final ManualQueue stream = ManualQueue.stream();
    private final ManualQueue unordered = ManualQueue.unordered();
    private final CountedOperation first = stream.submit(wait);
    private final CountedOperation second = unordered.submit(wait);

    /** For jcstress. */
    public HeldOperationIsIssuedOrAborted() {}

    /** Reaches the awaited points; the hardware completes at once. */
    @Actor
    public void signaller() {
        awaited.signal(1);
        stream.complete(null);
        unordered.complete(null);
    }

    /** Closes both queues. */
    @Actor
    public void closer() {
        stream.scheduler.close();
        unordered.scheduler.close();
    }

    /** The outcomes of the stream's operation and of the unordered queue's. */
    @Arbiter
    public void outcome(LL_Result r) {
        stream.complete(null);
        unordered.complete(null);
        r.r1 = first.outcome();
        r.r2 = second.outcome();
    }
}
