package io.github.iree4j.async;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Claim: a value is promised by one operation or joint, never both, in any order.
 *
 * <p>SEM-8: a promise checks for a count, and a count for a promise, under the same lock.
 */
@JCStressTest
@Outcome(id = "1, 0, 1", expect = Expect.ACCEPTABLE, desc = "promised; no second signal is taken")
@Outcome(id = "0, 1, 0", expect = Expect.ACCEPTABLE, desc = "joint; no promise is taken")
@Outcome(expect = Expect.FORBIDDEN, desc = "both, neither, or known although joint")
@State
public class JointValueIsNotPromised {
    private static final Frontier FRONTIER = Frontier.producedBy(Axis.of(1, 0, CausalDomain.QUEUE, 0), 1);

    private final TimelineSemaphore timeline = TimelineSemaphore.create(0);
    private int promised;
    private int counted;

    /** For jcstress. */
    public JointValueIsNotPromised() {}

    /** Promises. */
    @Actor
    public void promiser() {
        promised = timeline.promise(1, FRONTIER) ? 1 : 0;
    }

    /** Expects two signals. */
    @Actor
    public void counter() {
        try {
            timeline.expectSignals(1, 2);
            counted = 1;
        } catch (IreeException promisedBefore) {
            counted = 0;
        }
    }

    /** Whether the promise and the count were accepted, and whether the value is known. */
    @Arbiter
    public void outcome(III_Result r) {
        r.r1 = promised;
        r.r2 = counted;
        r.r3 = timeline.lookup(1, new SignalRecord()) ? 1 : 0;
    }
}
