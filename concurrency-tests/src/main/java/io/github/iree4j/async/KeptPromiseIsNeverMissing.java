package io.github.iree4j.async;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Claim: during an operation's keeping of a promise, a lookup finds either the promise or the signal, with the
 * operation's frontier; never neither, and never the promise of the next value.
 *
 * <p>SEM-4: a single change replaces the promise with the signal.
 */
@JCStressTest
@Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "promised")
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "reached")
@Outcome(expect = Expect.FORBIDDEN, desc = "nothing known, or another value's record")
@State
public class KeptPromiseIsNeverMissing {
    private static final long AXIS = Axis.of(1, 0, CausalDomain.QUEUE, 0);
    private static final Frontier FIRST = Frontier.producedBy(AXIS, 1);
    private static final Frontier SECOND = Frontier.producedBy(AXIS, 2);

    private final TimelineSemaphore timeline = TimelineSemaphore.create(0);

    /** Two promises. */
    public KeptPromiseIsNeverMissing() {
        timeline.promise(1, FIRST);
        timeline.promise(2, SECOND);
    }

    /** Makes a third promise, keeps the first. */
    @Actor
    public void queue() {
        timeline.promise(3, Frontier.producedBy(AXIS, 3));
        timeline.signal(1, FIRST);
    }

    /** Looks the value up. */
    @Actor
    public void scheduler(II_Result r) {
        SignalRecord found = new SignalRecord();
        boolean known = timeline.lookup(1, found);
        r.r1 = found.isReached() ? 1 : 0;
        r.r2 = known && found.value() == 1 && found.frontier().equals(FIRST) ? 1 : 0;
    }
}
