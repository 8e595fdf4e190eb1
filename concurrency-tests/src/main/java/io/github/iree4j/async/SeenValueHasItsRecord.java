package io.github.iree4j.async;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Claim: a thread seeing a reached value finds the frontier of the signal.
 *
 * <p>SEM-5: the history is published before the value.
 */
@JCStressTest
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "not reached, no record")
@Outcome(id = "0, 7", expect = Expect.ACCEPTABLE, desc = "reached after the first read")
@Outcome(id = "1, 7", expect = Expect.ACCEPTABLE, desc = "reached, and the record is there")
@Outcome(expect = Expect.FORBIDDEN, desc = "reached, but without the record")
@State
public class SeenValueHasItsRecord {
    private static final long AXIS = Axis.of(1, 0, CausalDomain.QUEUE, 0);

    private final TimelineSemaphore timeline = TimelineSemaphore.create(0);

    /** For jcstress. */
    public SeenValueHasItsRecord() {}

    /** Signals with a frontier. */
    @Actor
    public void signaller() {
        timeline.signal(1, Frontier.of(AXIS, 7));
    }

    /** Reads the value, then the record. */
    @Actor
    public void waiter(II_Result r) {
        r.r1 = timeline.isReached(1) ? 1 : 0;
        Frontier frontier = timeline.frontierAt(1);
        r.r2 = frontier == null ? 0 : (int) frontier.epochOf(AXIS);
    }
}
