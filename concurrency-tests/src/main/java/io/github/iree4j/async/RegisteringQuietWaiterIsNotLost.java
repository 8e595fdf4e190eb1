package io.github.iree4j.async;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Claim: a waiter for the end of everything in flight of a frontier is called once, even if the axes fail and become
 * quiet meanwhile.
 *
 * <p>TRACK-5: quiesced epochs are written, and waits registered, under the tracker's lock.
 */
@JCStressTest
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "called once")
@Outcome(expect = Expect.FORBIDDEN, desc = "forgotten, or called twice")
@State
public class RegisteringQuietWaiterIsNotLost {
    private static final long FIRST = Axis.of(1, 0, CausalDomain.QUEUE, 0);
    private static final long SECOND = Axis.of(1, 0, CausalDomain.QUEUE, 1);

    private final FrontierTracker tracker = FrontierTracker.create();
    private final Frontier both = Frontier.of(FIRST, 1).insertOrRaise(SECOND, 1);
    private final AtomicInteger called = new AtomicInteger();

    /** For jcstress. */
    public RegisteringQuietWaiterIsNotLost() {
        tracker.register(FIRST);
        tracker.register(SECOND);
    }

    /** An axis completes, the other fails. */
    @Actor
    public void queues() {
        tracker.advance(SECOND, 1);
        tracker.fail(FIRST, IreeException.of(StatusCode.UNAVAILABLE, "lost"));
        tracker.quiesce(FIRST, 1);
    }

    /** Registers. */
    @Actor
    public void waiter() {
        tracker.whenOver(both, failure -> called.incrementAndGet());
    }

    /** Number of calls. */
    @Arbiter
    public void outcome(I_Result r) {
        r.r1 = called.get();
    }
}
