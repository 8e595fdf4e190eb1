package io.github.iree4j.hal.stream;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/**
 * Claim: a follower that finds a value not reached is called on reaching, however close the signal comes.
 *
 * <p>GPU-3: following comes before the last look.
 */
@JCStressTest
@Outcome(id = "true", expect = Expect.ACCEPTABLE, desc = "seen, or told")
@Outcome(expect = Expect.FORBIDDEN, desc = "the change was missed")
@State
public class FollowerIsFed {
    private final Followers<Runnable> followers = new Followers<>();
    private volatile long reached;
    private volatile boolean told;
    private boolean seen;

    /** For jcstress. */
    public FollowerIsFed() {}

    /** Looks, follows and looks again. */
    @Actor
    public void follower() {
        if (reached < 1) {
            followers.add(() -> told = true);
            seen = reached >= 1;
        } else {
            seen = true;
        }
    }

    /** Reaches the value. */
    @Actor
    public void producer() {
        reached = 1;
        followers.takeAll().forEach(Runnable::run);
    }

    /** Whether the follower knows. */
    @Arbiter
    public void outcome(Z_Result r) {
        r.r1 = seen || told;
    }
}
