package io.github.iree4j.async;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/**
 * Claim: registering an axis, with the growth of the table, hides no other axis, and a thread knowing of the
 * registration finds the axis.
 *
 * <p>TRACK-4: slots are written once, and the larger table is published whole.
 */
@JCStressTest
@Outcome(id = "7, -1", expect = Expect.ACCEPTABLE, desc = "the old axis is found; the new axis was not announced yet")
@Outcome(id = "7, 1", expect = Expect.ACCEPTABLE, desc = "both are found")
@Outcome(expect = Expect.FORBIDDEN, desc = "an axis is missing")
@State
public class RegisteredAxisIsFound {
    private static final int BEFORE_GROWTH = 16;

    private final FrontierTracker tracker = FrontierTracker.create();
    private volatile boolean registered;

    /** For jcstress. */
    public RegisteredAxisIsFound() {
        for (int i = 0; i < BEFORE_GROWTH; i++) {
            tracker.register(axis(i));
        }
        tracker.advance(axis(0), 7);
    }

    private static long axis(int ordinal) {
        return Axis.of(1, 0, CausalDomain.QUEUE, ordinal);
    }

    /** Makes the table grow. */
    @Actor
    public void registrant() {
        tracker.register(axis(BEFORE_GROWTH));
        tracker.advance(axis(BEFORE_GROWTH), 1);
        registered = true;
    }

    /** Looks both up. */
    @Actor
    public void reader(JJ_Result r) {
        r.r2 = registered ? tracker.completed(axis(BEFORE_GROWTH)) : -1;
        r.r1 = tracker.completed(axis(0));
    }
}
