package io.github.iree4j.hal.remote;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/**
 * Claim: an axis named by a frame while the node fails has failed, or stays unknown.
 *
 * <p>REMOTE-2: axes are learned under the lock taken by the failure after the failure is set.
 */
@JCStressTest
@Outcome(id = "failed", expect = Expect.ACCEPTABLE, desc = "learned before the failure")
@Outcome(id = "unknown", expect = Expect.ACCEPTABLE, desc = "the failure came first")
@Outcome(id = "alive", expect = Expect.FORBIDDEN, desc = "a waiter of the axis hangs")
@State
public class LearnedAxisFailsWithItsNode {
    private final StressPeer peer = new StressPeer();

    /** For jcstress. */
    public LearnedAxisFailsWithItsNode() {}

    /** The node fails. */
    @Actor
    public void failer() {
        peer.session.fail(StressPeer.LOST);
    }

    /** A frame names the axis. */
    @Actor
    public void learner() {
        try {
            peer.session.peerAxes().believed(Frontier.of(StressPeer.AXIS, 1));
        } catch (IreeException failed) {
            // The frame came late.
        }
    }

    /** State of the axis. */
    @Arbiter
    public void outcome(L_Result r) {
        r.r1 = !peer.tracker.isRegistered(StressPeer.AXIS)
                ? "unknown"
                : peer.tracker.failure(StressPeer.AXIS) == null ? "alive" : "failed";
    }
}
