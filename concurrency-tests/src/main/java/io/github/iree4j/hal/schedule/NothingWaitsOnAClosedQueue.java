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
 * Claim: an operation submitted while the queue is being closed, with a wait never reached, is refused or aborted.
 *
 * <p>SCHED-3: nothing is added to the list of waiting operations after the start of the last scan.
 */
@JCStressTest
@Outcome(
        id = "did not run: (ABORTED|FAILED_PRECONDITION), did not run: (ABORTED|FAILED_PRECONDITION)",
        expect = Expect.ACCEPTABLE,
        desc = "both failed")
@Outcome(expect = Expect.FORBIDDEN, desc = "twice, never, or half")
@State
public class NothingWaitsOnAClosedQueue {
    private final TimelineSemaphore never = TimelineSemaphore.create(0);
    private final Fence wait = Fence.at(never, 1);
    private final ManualQueue stream = ManualQueue.stream();
    private final ManualQueue unordered = ManualQueue.unordered();
    private final CountedOperation first = new CountedOperation();
    private final CountedOperation second = new CountedOperation();

    /** For jcstress. */
    public NothingWaitsOnAClosedQueue() {}

    /** Closes both queues. */
    @Actor
    public void closer() {
        stream.scheduler.close();
        unordered.scheduler.close();
    }

    /** Submits to both. */
    @Actor
    public void submitter() {
        stream.submit(wait, first);
        unordered.submit(wait, second);
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
