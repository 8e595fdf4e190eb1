package io.github.iree4j.hal.local;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Claim: the execution that waits for the only lane gets it when the previous one ends, on whichever thread, and sees its writes.
 *
 * <p>LANE-1: the thread that takes the bit of a lane owns it exclusively.
 *
 * <p>LANE-2: the queue announces that it wants a lane before its last check, and a thread that returns a lane checks for that.
 */
@JCStressTest
@Outcome(id = "6, 0, 3", expect = Expect.ACCEPTABLE, desc = "one after the other")
@Outcome(expect = Expect.FORBIDDEN, desc = "concurrently, not at all, or without seeing earlier writes")
@State
public class LaneIsHandedOn {
    private final StressLane lane = new StressLane(3, 2);

    /** For jcstress. */
    public LaneIsHandedOn() {}

    /** The worker, which may fall asleep. */
    @Actor
    public void worker() {
        lane.work();
    }

    /** A thread that waits for the work and helps. */
    @Actor
    public void helper() {
        lane.help(5);
    }

    /** Workgroups run, those that overlapped with another, executions ended. */
    @Arbiter
    public void outcome(III_Result r) {
        lane.workWhileAwake();
        r.r1 = lane.ran();
        r.r2 = lane.overlaps();
        r.r3 = lane.ended();
    }
}
