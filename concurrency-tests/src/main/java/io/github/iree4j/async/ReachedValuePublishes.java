package io.github.iree4j.async;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Claim: a thread seeing a reached value sees every write made before the signal.
 *
 * <p>SEM-1: the payload is a plain field; only the timeline's value orders the write.
 */
@JCStressTest
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "reader came first")
@Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "not reached yet, payload happened to be visible")
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "reached, and the payload is there")
@Outcome(id = "1, 0", expect = Expect.FORBIDDEN, desc = "reached, but the payload is missing")
@State
public class ReachedValuePublishes {
    private final TimelineSemaphore timeline = TimelineSemaphore.create(0);
    private int payload;

    /** For jcstress. */
    public ReachedValuePublishes() {}

    /** Writes, then signals. */
    @Actor
    public void writer() {
        payload = 1;
        timeline.signal(1);
    }

    /** Checks, then reads. */
    @Actor
    public void reader(II_Result r) {
        r.r1 = timeline.isReached(1) ? 1 : 0;
        r.r2 = payload;
    }
}
