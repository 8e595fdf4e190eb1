package io.github.iree4j.hal.collective;

import io.github.iree4j.status.IreeException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * Claim: a participant joining a collective while another leaves permanently is refused, or receives the failure; no
 * participant waits for a participant gone.
 *
 * <p>GROUP-1: leaving checks for waiters, and taking a ticket checks for leavers, under the same lock.
 */
@JCStressTest
@Outcome(
        id = "(refused|ABORTED), nothing",
        expect = Expect.ACCEPTABLE,
        desc = "the late participant received the failure, the other had not arrived")
@Outcome(expect = Expect.FORBIDDEN, desc = "waits forever, or told twice")
@State
public class LateParticipantIsTold {
    private final ToldParticipants participants = new ToldParticipants();
    private boolean refused;

    /** For jcstress. */
    public LateParticipantIsTold() {}

    /** A participant arrives. */
    @Actor
    public void late() {
        try {
            participants.arriveOnNewTicket(0);
        } catch (IreeException left) {
            refused = true;
        }
    }

    /** The other leaves without having arrived. */
    @Actor
    public void leaver() {
        participants.group.leave(1);
    }

    /** The outcome reported to each. */
    @Arbiter
    public void outcome(LL_Result r) {
        r.r1 = refused ? "refused" : participants.told(0);
        r.r2 = participants.told(1);
    }
}
