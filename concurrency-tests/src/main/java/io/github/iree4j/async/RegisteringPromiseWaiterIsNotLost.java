package io.github.iree4j.async;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Claim: a waiter for a promise, registering while the value is promised, is called exactly once, by either side.
 *
 * <p>SEM-3: the history is checked again under the lock held by promising.
 */
@JCStressTest
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "called once")
@Outcome(id = "0", expect = Expect.FORBIDDEN, desc = "lost: promised between the test and the registration")
@Outcome(id = "2", expect = Expect.FORBIDDEN, desc = "called by both sides")
@State
public class RegisteringPromiseWaiterIsNotLost {
    private static final Frontier FRONTIER = Frontier.producedBy(Axis.of(1, 0, CausalDomain.QUEUE, 0), 1);

    private final TimelineSemaphore timeline = TimelineSemaphore.create(0);
    private int called;

    /** For jcstress. */
    public RegisteringPromiseWaiterIsNotLost() {}

    /** Promises. */
    @Actor
    public void promiser() {
        timeline.promise(1, FRONTIER);
    }

    /** Registers. */
    @Actor
    public void waiter() {
        timeline.whenPromised(1, (value, failure) -> called++);
    }

    /** How often the waiter was called. */
    @Arbiter
    public void outcome(I_Result r) {
        r.r1 = called;
    }
}
