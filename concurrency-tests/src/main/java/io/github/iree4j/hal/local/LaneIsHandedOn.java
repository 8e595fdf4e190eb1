package io.github.iree4j.hal.local;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Claim: the execution waiting for the only lane gets the lane when the previous execution ends, on any thread, and
 * sees the previous writes.
 *
 * <p>LANE-1: the thread taking the bit of a lane owns the lane exclusively.
 *
 * <p>LANE-2: the queue announces the need of a lane before the last check, and a thread returning a lane checks for the
 * announcement.
 */
@JCStressTest
@Outcome(id = "6, 0, 3", expect = Expect.ACCEPTABLE, desc = "one after the other")
@Outcome(expect = Expect.FORBIDDEN, desc = "concurrently, not at all, or without seeing earlier writes")
@State
public class LaneIsHandedOn {
    private final StressLane lane = new StressLane(3, 2);

    /** For jcstress. */
    public LaneIsHandedOn() {}

    /** The worker, free to fall asleep. */
    @Actor
    public void worker() {
        lane.work();
    }

    /** A helping thread in a wait for the work. */
    @Actor
    public void helper() {
        lane.help(5);
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
