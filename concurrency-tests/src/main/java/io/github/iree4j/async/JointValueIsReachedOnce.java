package io.github.iree4j.async;

import io.github.iree4j.status.IreeException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Claim: a joint value of two signals is reached once, by the last signal, with a single call of the waiter.
 *
 * <p>SEM-8: signals are counted under the lock.
 */
@JCStressTest
@Outcome(id = "1, 1, 0", expect = Expect.ACCEPTABLE, desc = "reached and called once, no signal refused")
@Outcome(expect = Expect.FORBIDDEN, desc = "not reached, reached twice, or a signal refused")
@State
public class JointValueIsReachedOnce {
    private final TimelineSemaphore timeline = TimelineSemaphore.create(0);
    private int called; // by one of the actors, if the claim holds
    private int firstRefused;
    private int secondRefused;

    /** Expects two signals. */
    public JointValueIsReachedOnce() {
        timeline.addSignaller(1);
        timeline.addSignaller(1);
        timeline.whenReached(1, (value, failure) -> called++);
    }

    private int signal() {
        try {
            timeline.signal(1);
            return 0;
        } catch (IreeException refused) {
            return 1;
        }
    }

    /** Signals. */
    @Actor
    public void first() {
        firstRefused = signal();
    }

    /** Signals. */
    @Actor
    public void second() {
        secondRefused = signal();
    }

    /** The value, how often the waiter was called, and how many signals were refused. */
    @Arbiter
    public void outcome(III_Result r) {
        r.r1 = (int) timeline.value();
        r.r2 = called;
        r.r3 = firstRefused + secondRefused;
    }
}
