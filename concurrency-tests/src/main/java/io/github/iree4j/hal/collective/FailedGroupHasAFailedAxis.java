package io.github.iree4j.hal.collective;

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
 * Claim: when a participant learns of the failure of the group, the axis of the group has failed, whether the
 * participant arrives before, during or after the failure.
 *
 * <p>GROUP-1: the axis fails before the failure is published under the lock, and before waiting participants are
 * called.
 */
@JCStressTest
@Outcome(id = "refused, failed", expect = Expect.ACCEPTABLE, desc = "came late")
@Outcome(id = "ABORTED, open", expect = Expect.ACCEPTABLE, desc = "was told later, on the other thread")
@Outcome(id = "ABORTED, failed", expect = Expect.ACCEPTABLE, desc = "was told")
@Outcome(expect = Expect.FORBIDDEN, desc = "refused before the axis had failed, or not told")
@State
public class FailedGroupHasAFailedAxis {
    private final ToldParticipants participants = new ToldParticipants();
    private boolean refused;
    private boolean failed;

    /** For jcstress. */
    public FailedGroupHasAFailedAxis() {}

    /** A participant arrives. */
    @Actor
    public void late() {
        try {
            participants.arriveOnNewTicket(0);
        } catch (IreeException told) {
            refused = true;
        }
        failed = participants.hasFailedAxis();
    }

    /** The group fails. */
    @Actor
    public void failure() {
        participants.group.fail(IreeException.of(StatusCode.ABORTED, "on purpose"));
    }

    /** The outcome reported, and the axis then. */
    @Arbiter
    public void outcome(LL_Result r) {
        r.r1 = refused ? "refused" : participants.told(0);
        r.r2 = failed ? "failed" : "open";
    }
}
