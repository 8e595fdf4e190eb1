package io.github.iree4j.hal.local;

import io.github.iree4j.status.IreeException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * Claim: who joins a collective while another participant leaves for good is refused or told that it failed; nobody waits for somebody
 * who is gone.
 *
 * <p>GROUP-1: leaving looks for those who wait, and taking a ticket for those who have left, under one lock.
 */
@JCStressTest
@Outcome(
        id = "(refused|ABORTED), nothing",
        expect = Expect.ACCEPTABLE,
        desc = "the late one knows, the other had not come")
@Outcome(expect = Expect.FORBIDDEN, desc = "waits for ever, or told twice")
@State
public class LateParticipantIsTold {
    private final ToldParticipants participants = new ToldParticipants();
    private boolean refused;

    /** For jcstress. */
    public LateParticipantIsTold() {}

    /** One comes. */
    @Actor
    public void late() {
        try {
            participants.arriveOnNewTicket(0);
        } catch (IreeException left) {
            refused = true;
        }
    }

    /** The other goes without having come. */
    @Actor
    public void leaver() {
        participants.group.leave(1);
    }

    /** What each was told. */
    @Arbiter
    public void outcome(LL_Result r) {
        r.r1 = refused ? "refused" : participants.told(0);
        r.r2 = participants.told(1);
    }
}
