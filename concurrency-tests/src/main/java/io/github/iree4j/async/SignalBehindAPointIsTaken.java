package io.github.iree4j.async;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import java.util.List;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Claim: a thread having seen a reached point of a fence may signal the timeline of another point further, and neither
 * signal is refused.
 *
 * <p>FENCE-3: the second signal needs the lock held by the fence's signal.
 */
@JCStressTest
@Outcome(id = "1, 0, 0", expect = Expect.ACCEPTABLE, desc = "the point was not seen")
@Outcome(id = "2, 0, 0", expect = Expect.ACCEPTABLE, desc = "both signals were taken")
@Outcome(expect = Expect.FORBIDDEN, desc = "a signal was refused")
@State
public class SignalBehindAPointIsTaken {
    private final TimelineSemaphore left = TimelineSemaphore.create(0);
    private final TimelineSemaphore right = TimelineSemaphore.create(0);
    private final Fence both = Fence.of(List.of(new Fence.Entry(left, 1), new Fence.Entry(right, 1)));
    private int refused;

    /** For jcstress. */
    public SignalBehindAPointIsTaken() {}

    /** Signals both points. */
    @Actor
    public void signaller() {
        both.signalOrFail(Frontier.EMPTY);
    }

    /** Signals the second timeline further once the first point is seen. */
    @Actor
    public void follower() {
        if (left.isReached(1)) {
            try {
                right.signal(2);
            } catch (IreeException e) {
                refused = 1;
            }
        }
    }

    /** The value of the second timeline, the failure of the timeline, and the refusal of the follower. */
    @Arbiter
    public void outcome(III_Result r) {
        r.r1 = (int) right.value();
        r.r2 = right.failure() == null ? 0 : 1;
        r.r3 = refused;
    }
}
