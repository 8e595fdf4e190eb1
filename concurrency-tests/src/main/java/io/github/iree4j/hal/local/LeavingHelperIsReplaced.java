package io.github.iree4j.hal.local;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Claim: a region opened by a helper is continued when the helper leaves, although the worker had found nothing and
 * fell asleep.
 *
 * <p>LANE-3: a leaving helper checks for an open region, and has the lane rescheduled.
 */
@JCStressTest
@Outcome(id = "4, 0, 1", expect = Expect.ACCEPTABLE, desc = "all of it ran")
@Outcome(expect = Expect.FORBIDDEN, desc = "an open region without a woken worker")
@State
public class LeavingHelperIsReplaced {
    private final StressLane lane = new StressLane(1, 4);

    /** For jcstress. */
    public LeavingHelperIsReplaced() {}

    /** The worker, free to fall asleep. */
    @Actor
    public void worker() {
        lane.work();
    }

    /** A helping thread in a wait for the work. */
    @Actor
    public void helper() {
        lane.help(1);
    }

    /** Workgroups run, workgroups overlapping with another, executions ended. */
    @Arbiter
    public void outcome(III_Result r) {
        lane.workWhileAwake();
        r.r1 = lane.ran();
        r.r2 = lane.overlaps();
        r.r3 = lane.ended();
    }
}
