package io.github.iree4j.async;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Claim: of two threads, each signalling an own timeline and then reading the other's, at least one sees the other's
 * signal.
 *
 * <p>SEM-6: handing work over between two timelines relies on this order. With only a releasing store of the value,
 * both may miss the other.
 */
@JCStressTest
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "both see the other")
@Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "the left read first")
@Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "the right read first")
@Outcome(id = "0, 0", expect = Expect.FORBIDDEN, desc = "both missed the other's signal")
@State
public class SignalsAreInOneOrder {
    private final TimelineSemaphore left = TimelineSemaphore.create(0);
    private final TimelineSemaphore right = TimelineSemaphore.create(0);

    /** For jcstress. */
    public SignalsAreInOneOrder() {}

    /** Signals the left timeline, reads the right. */
    @Actor
    public void leftFirst(II_Result r) {
        left.signal(1);
        r.r1 = right.isReached(1) ? 1 : 0;
    }

    /** Signals the right timeline, reads the left. */
    @Actor
    public void rightFirst(II_Result r) {
        right.signal(1);
        r.r2 = left.isReached(1) ? 1 : 0;
    }
}
