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
 * Claim: an operation submitted while the wait is reached runs, once.
 *
 * <p>SCHED-2: the timeline is checked again when the deferral registers.
 */
@JCStressTest
@Outcome(id = "ran, ran", expect = Expect.ACCEPTABLE, desc = "both ran once")
@Outcome(expect = Expect.FORBIDDEN, desc = "twice, never, or half")
@State
public class SubmittedOperationIsNotLost {
    private final TimelineSemaphore awaited = TimelineSemaphore.create(0);
    private final Fence wait = Fence.at(awaited, 1);
    private final ManualQueue stream = ManualQueue.stream();
    private final ManualQueue unordered = ManualQueue.unordered();
    private final CountedOperation first = new CountedOperation();
    private final CountedOperation second = new CountedOperation();

    /** For jcstress. */
    public SubmittedOperationIsNotLost() {}

    /** Reaches the awaited points. */
    @Actor
    public void signaller() {
        awaited.signal(1);
    }

    /** Submits both. */
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
