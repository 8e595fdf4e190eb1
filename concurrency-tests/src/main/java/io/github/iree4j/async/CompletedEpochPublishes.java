package io.github.iree4j.async;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JI_Result;

/**
 * Claim: a thread seeing a completed epoch sees all writes made before the axis reached the epoch, and can reuse
 * memory.
 *
 * <p>TRACK-1: the epoch advances by compare-and-set and is read with acquire.
 */
@JCStressTest
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "the reader came first")
@Outcome(id = "0, 42", expect = Expect.ACCEPTABLE, desc = "written, not yet completed")
@Outcome(id = "1, 42", expect = Expect.ACCEPTABLE, desc = "completed, and the result is visible")
@Outcome(expect = Expect.FORBIDDEN, desc = "completed, but the result is missing")
@State
public class CompletedEpochPublishes {
    private static final long AXIS = Axis.of(1, 0, CausalDomain.QUEUE, 0);

    private final FrontierTracker tracker = FrontierTracker.create();
    private int result;

    /** For jcstress. */
    public CompletedEpochPublishes() {
        tracker.register(AXIS);
    }

    /** Writes a result and reports the epoch completed. */
    @Actor
    public void queue() {
        result = 42;
        tracker.advance(AXIS, 1);
    }

    /** Checks for completion. */
    @Actor
    public void reader(JI_Result r) {
        r.r1 = tracker.completed(AXIS);
        r.r2 = result;
    }
}
