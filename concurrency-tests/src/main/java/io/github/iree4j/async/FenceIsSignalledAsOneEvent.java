package io.github.iree4j.async;

import io.github.iree4j.frontier.Frontier;
import java.util.List;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Claim: a thread seeing a reached point of a fence sees the other points reached, in any order of looking.
 *
 * <p>FENCE-3: all values are hidden before the first value changes.
 */
@JCStressTest
@Outcome(id = "0, 0, [01]", expect = Expect.ACCEPTABLE, desc = "not seen, or seen at the last look")
@Outcome(id = "0, 1, 1", expect = Expect.ACCEPTABLE, desc = "seen as a whole at the second look")
@Outcome(id = "1, 1, 1", expect = Expect.ACCEPTABLE, desc = "seen as a whole at the first look")
@Outcome(expect = Expect.FORBIDDEN, desc = "a point was seen reached and then the other point not")
@State
public class FenceIsSignalledAsOneEvent {
    private final TimelineSemaphore left = TimelineSemaphore.create(0);
    private final TimelineSemaphore right = TimelineSemaphore.create(0);
    private final Fence both = Fence.of(List.of(new Fence.Entry(left, 1), new Fence.Entry(right, 1)));

    /** For jcstress. */
    public FenceIsSignalledAsOneEvent() {}

    /** Signals both points. */
    @Actor
    public void signaller() {
        both.signalOrFail(Frontier.EMPTY);
    }

    /** Looks at the second, the first, and the second again. */
    @Actor
    public void reader(III_Result r) {
        r.r1 = (int) right.value();
        r.r2 = (int) left.value();
        r.r3 = (int) right.value();
    }
}
