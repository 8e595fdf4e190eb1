package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
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
 * Claim: an operation that is submitted while its device is lost, and whose wait nobody reaches, fails.
 *
 * <p>SCHED-3: the list of those that wait is read, and nothing is added to it, once the loss is known.
 */
@JCStressTest
@Outcome(id = "did not run: DATA_LOSS, did not run: DATA_LOSS", expect = Expect.ACCEPTABLE, desc = "both were told")
@Outcome(expect = Expect.FORBIDDEN, desc = "twice, never, or half")
@State
public class NothingWaitsOnALostDevice {
    private static final IreeException CAUSE = new IreeException(StatusCode.DATA_LOSS, "lost on purpose");

    private final TimelineSemaphore never = TimelineSemaphore.create(0);
    private final Fence wait = Fence.at(never, 1);
    private final ManualQueue stream = ManualQueue.stream();
    private final ManualQueue unordered = ManualQueue.unordered();
    private final CountedOperation first = new CountedOperation();
    private final CountedOperation second = new CountedOperation();

    /** For jcstress. */
    public NothingWaitsOnALostDevice() {}

    /** Loses both queues. */
    @Actor
    public void loser() {
        stream.scheduler.lost(CAUSE);
        unordered.scheduler.lost(CAUSE);
    }

    /** Submits to both. */
    @Actor
    public void submitter() {
        stream.submit(wait, first);
        unordered.submit(wait, second);
    }

    /** What became of the operation of the stream and of that of the unordered queue. */
    @Arbiter
    public void outcome(LL_Result r) {
        stream.complete(null);
        unordered.complete(null);
        r.r1 = first.outcome();
        r.r2 = second.outcome();
    }
}
