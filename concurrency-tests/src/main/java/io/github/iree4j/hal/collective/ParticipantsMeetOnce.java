package io.github.iree4j.hal.collective;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * Claim: participants that arrive concurrently meet once: exactly one participant does the work, in a single epoch.
 *
 * <p>GROUP-1: arrivals are counted under the lock.
 */
@JCStressTest
@Outcome(id = "met at 1, met at 1", expect = Expect.ACCEPTABLE, desc = "they met once")
@Outcome(expect = Expect.FORBIDDEN, desc = "the participants met twice or missed each other")
@State
public class ParticipantsMeetOnce {
    private final ToldParticipants participants = new ToldParticipants();

    /** For jcstress. */
    public ParticipantsMeetOnce() {}

    /** A participant arrives. */
    @Actor
    public void one() {
        participants.arrive(0);
    }

    /** The other arrives. */
    @Actor
    public void other() {
        participants.arrive(1);
    }

    /** The outcome reported to each. */
    @Arbiter
    public void outcome(LL_Result r) {
        r.r1 = participants.told(0);
        r.r2 = participants.told(1);
    }
}
