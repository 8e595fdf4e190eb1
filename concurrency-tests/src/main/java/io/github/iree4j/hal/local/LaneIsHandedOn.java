package io.github.iree4j.hal.local;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Claim: what waits for the one lane gets it when the execution before is over, whoever ends that, and sees what it wrote.
 *
 * <p>LANE-1: whoever takes the bit of a lane has it to itself.
 *
 * <p>LANE-2: the queue says that it wants a lane before it looks for the last time, and whoever gives one back looks at that.
 */
@JCStressTest
@Outcome(id = "6, 0, 3", expect = Expect.ACCEPTABLE, desc = "one after the other")
@Outcome(expect = Expect.FORBIDDEN, desc = "together, not at all, or without seeing what came before")
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

    /** How many workgroups ran, how many while another did, how many executions ended. */
    @Arbiter
    public void outcome(III_Result r) {
        lane.workWhileAwake();
        r.r1 = lane.ran();
        r.r2 = lane.overlaps();
        r.r3 = lane.ended();
    }
}
