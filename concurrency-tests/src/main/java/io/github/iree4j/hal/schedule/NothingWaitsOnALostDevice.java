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
 * Claim: an operation submitted while the device is lost, with a wait never reached, fails.
 *
 * <p>SCHED-3: after the loss is known, the list of waiting operations is scanned and takes no addition.
 */
@JCStressTest
@Outcome(id = "did not run: DATA_LOSS, did not run: DATA_LOSS", expect = Expect.ACCEPTABLE, desc = "both failed")
@Outcome(expect = Expect.FORBIDDEN, desc = "twice, never, or half")
@State
public class NothingWaitsOnALostDevice {
    private static final IreeException CAUSE = IreeException.of(StatusCode.DATA_LOSS, "lost on purpose");

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

    /** The outcomes of the stream's operation and of the unordered queue's. */
    @Arbiter
    public void outcome(LL_Result r) {
        stream.complete(null);
        unordered.complete(null);
        r.r1 = first.outcome();
        r.r2 = second.outcome();
    }
}
