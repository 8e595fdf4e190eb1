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
 * Claim: all participants arrived at a collective get the same outcome when the last participant arrives while the
 * group fails.
 *
 * <p>GROUP-1: the thread removing the meeting from the open meetings, under the lock, reports the outcome.
 */
@JCStressTest
@Outcome(id = "met at 1, met at 1", expect = Expect.ACCEPTABLE, desc = "they met")
@Outcome(id = "DATA_LOSS, DATA_LOSS", expect = Expect.ACCEPTABLE, desc = "the group failed first")
@Outcome(expect = Expect.FORBIDDEN, desc = "reported twice, never, or differently")
@State
public class MeetingIsOverOnce {
    private static final IreeException CAUSE = IreeException.of(StatusCode.DATA_LOSS, "lost on purpose");

    private final ToldParticipants participants = new ToldParticipants();

    /** The first participant has arrived, the other is on the way. */
    public MeetingIsOverOnce() {
        participants.arrive(0);
    }

    /** The last participant arrives. */
    @Actor
    public void last() {
        participants.arrive(1);
    }

    /** The group fails. */
    @Actor
    public void failer() {
        participants.group.fail(CAUSE);
    }

    /** The outcome reported to each. */
    @Arbiter
    public void outcome(LL_Result r) {
        r.r1 = participants.told(0);
        r.r2 = participants.told(1);
    }
}
