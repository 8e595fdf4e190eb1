package io.github.iree4j.async;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Claim: a waiter registering while the value is signalled is called exactly once, by either side.
 *
 * <p>SEM-3: the value is tested again under the lock held by signalling.
 */
@JCStressTest
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "called once")
@Outcome(id = "0", expect = Expect.FORBIDDEN, desc = "lost: signalled between the test and the registration")
@Outcome(id = "2", expect = Expect.FORBIDDEN, desc = "called by both sides")
@State
public class RegisteringWaiterIsNotLost {
    private final TimelineSemaphore timeline = TimelineSemaphore.create(0);
    private int called;

    /** For jcstress. */
    public RegisteringWaiterIsNotLost() {}

    /** Signals. */
    @Actor
    public void signaller() {
        timeline.signal(1);
    }

    /** Registers. */
    @Actor
    public void waiter() {
        timeline.whenReached(1, (value, failure) -> called++);
    }

    /** How often the waiter was called. */
    @Arbiter
    public void outcome(I_Result r) {
        r.r1 = called;
    }
}
