package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * Claim: an operation with an elided wait fails with the awaited operation, whichever completion the host receives
 * first.
 *
 * <p>SCHED-4: the wait is checked again when the operation retires; an unresolved wait holds the operation back.
 */
@JCStressTest
@Outcome(
        id = "ran but failed: DATA_LOSS, ran but failed: DATA_LOSS",
        expect = Expect.ACCEPTABLE,
        desc = "both failed with the cause")
@Outcome(expect = Expect.FORBIDDEN, desc = "twice, never, or half")
@State
public class ElidedFailureReachesItsOperation {
    private static final IreeException CAUSE = IreeException.of(StatusCode.DATA_LOSS, "lost on purpose");

    private final ManualQueue stream = ManualQueue.stream();
    private final CountedOperation producer = stream.submit(null);
    private final Fence wait = Fence.at(producer.done, 1);
    private final CountedOperation consumer = stream.submit(wait);

    /** For jcstress. */
    public ElidedFailureReachesItsOperation() {}

    /** The producer fails. */
    @Actor
    public void producer() {
        stream.scheduler.completed(producer, CAUSE);
    }

    /** The consumer's hardware completes nevertheless. */
    @Actor
    public void consumer() {
        stream.scheduler.completed(consumer, null);
    }

    /** The outcomes of the two. */
    @Arbiter
    public void outcome(LL_Result r) {
        r.r1 = producer.outcome();
        r.r2 = consumer.outcome();
    }
}
