package io.github.iree4j.async;

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
 * Claim: while a signaller of a fence signals, another joins at all points or at none, so the points are still reached
 * as a single event.
 *
 * <p>FENCE-3: the count needs the locks held by the signal.
 */
@JCStressTest
@Outcome(id = "1, 0, 0", expect = Expect.ACCEPTABLE, desc = "joined; the last signal reached both points")
@Outcome(id = "0, 0, 0", expect = Expect.ACCEPTABLE, desc = "too late to join: both points were reached")
@Outcome(expect = Expect.FORBIDDEN, desc = "a point was reached alone, a point is missing, or a signal was refused")
@State
public class SignallerJoinsAllPoints {
    private final TimelineSemaphore left = TimelineSemaphore.create(0);
    private final TimelineSemaphore right = TimelineSemaphore.create(0);
    private final Fence both = Fence.of(List.of(new Fence.Entry(left, 1), new Fence.Entry(right, 1)));
    private int joined;
    private int alone; // the second point was reached without the first; written by the signaller that reached it
    private int refused; // by either of the signallers

    /** Counts the first signaller. */
    public SignallerJoinsAllPoints() {
        both.addSignaller();
        right.whenReached(1, (value, failure) -> alone = left.isReached(1) ? 0 : 1);
    }

    /** Signals, as counted. */
    @Actor
    public void signaller() {
        signal();
    }

    /** Joins, unless too late, and signals then. */
    @Actor
    public void joiner() {
        try {
            both.addSignaller();
        } catch (IreeException tooLate) {
            return;
        }
        joined = 1;
        signal();
    }

    private void signal() {
        try {
            both.signal();
        } catch (IreeException e) {
            refused = 1;
        }
    }

    /** Whether the second joined, a point was reached alone, and a signal was refused or a point is not reached. */
    @Arbiter
    public void outcome(III_Result r) {
        r.r1 = joined;
        r.r2 = alone;
        r.r3 = refused == 1 || !both.isReached() ? 1 : 0;
    }
}
