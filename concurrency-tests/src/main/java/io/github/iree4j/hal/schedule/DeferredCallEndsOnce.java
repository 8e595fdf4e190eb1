package io.github.iree4j.hal.schedule;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * Claim: a deferred host call completed by the host while the queue is still busy ends once, and signals.
 *
 * <p>SCHED-6: the thread setting the second of two marks under one lock ends the operation.
 */
@JCStressTest
@Outcome(id = "ran, ran", expect = Expect.ACCEPTABLE, desc = "both calls signalled once")
@Outcome(expect = Expect.FORBIDDEN, desc = "twice, never, or half")
@State
public class DeferredCallEndsOnce {
    private final ManualQueue stream = ManualQueue.stream();
    private final ManualQueue unordered = ManualQueue.unordered();
    private final CallCompletion first = new CallCompletion(stream.scheduler);
    private final CallCompletion second = new CallCompletion(unordered.scheduler);
    private final CountedOperation onStream = new CountedOperation();
    private final CountedOperation onWorkers = new CountedOperation();

    /** Submits a call to each. */
    public DeferredCallEndsOnce() {
        first.of(onStream);
        second.of(onWorkers);
        stream.submit(null, onStream);
        unordered.submit(null, onWorkers);
    }

    /** The code of the calls has returned. */
    @Actor
    public void queue() {
        stream.complete(null);
        unordered.complete(null);
    }

    /** Completes the calls. */
    @Actor
    public void host() {
        first.complete();
        second.complete();
    }

    /** The outcomes of the stream's call and of the unordered queue's. */
    @Arbiter
    public void outcome(LL_Result r) {
        r.r1 = onStream.outcome();
        r.r2 = onWorkers.outcome();
    }
}
