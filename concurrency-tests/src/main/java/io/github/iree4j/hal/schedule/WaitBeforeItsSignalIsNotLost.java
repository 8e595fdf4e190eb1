package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * Claim: an operation waiting for an operation submitted by another thread to the same stream is issued by the latter's
 * promise, once.
 *
 * <p>SCHED-2: the promise is made, and the deferral registers, under the lock of the other side's check.
 */
@JCStressTest
@Outcome(id = "ran, ran", expect = Expect.ACCEPTABLE, desc = "both ran once")
@Outcome(expect = Expect.FORBIDDEN, desc = "twice, never, or half")
@State
public class WaitBeforeItsSignalIsNotLost {
    private final ManualQueue stream = ManualQueue.stream();
    private final CountedOperation producer = new CountedOperation();
    private final CountedOperation consumer = new CountedOperation();
    private final Fence wait = Fence.at(producer.done, 1);

    /** For jcstress. */
    public WaitBeforeItsSignalIsNotLost() {}

    /** Submits the signalling operation. */
    @Actor
    public void producing() {
        stream.submit(null, producer);
    }

    /** Submits the waiting operation. */
    @Actor
    public void consuming() {
        stream.submit(wait, consumer);
    }

    /** Both were issued without a completion. */
    @Arbiter
    public void outcome(LL_Result r) {
        boolean issued = producer.issued.get() == 1 && consumer.issued.get() == 1;
        stream.complete(null);
        r.r1 = issued ? producer.outcome() : "held back until the completion";
        r.r2 = consumer.outcome();
    }
}
