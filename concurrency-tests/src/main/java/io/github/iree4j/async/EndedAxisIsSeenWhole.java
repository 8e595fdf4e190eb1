package io.github.iree4j.async;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Claim: a thread seeing the end of an axis sees whether the axis was lost.
 *
 * <p>TRACK-6: the loss is written before the end and read after the end.
 */
@JCStressTest
@Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "the axis has not ended yet")
@Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "the axis is lost")
@Outcome(expect = Expect.FORBIDDEN, desc = "a failed axis looks retired")
@State
public class EndedAxisIsSeenWhole {
    private static final IreeException CAUSE = IreeException.of(StatusCode.ABORTED, "the device is lost");

    private final TrackedAxis axis = new TrackedAxis(Axis.of(1, 0, CausalDomain.QUEUE, 0), new WatchedAxes());

    /** Fails the axis. */
    @Actor
    public void failing() {
        axis.end(CAUSE, true);
    }

    /**
     * Looks at the axis without the lock, as {@link FrontierTracker#failure} does.
     *
     * @param r 0 before the end; 2 for a lost axis, 1 for a retired axis
     */
    @Actor
    public void reader(I_Result r) {
        r.r1 = axis.ended == null ? 0 : axis.lost ? 2 : 1;
    }
}
