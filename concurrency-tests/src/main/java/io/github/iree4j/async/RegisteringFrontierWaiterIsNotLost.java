package io.github.iree4j.async;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Claim: a waiter registering while the missing epochs arrive is called, once.
 *
 * <p>TRACK-2: advancing writes the epoch and then reads the wanted epoch; waiting writes the wanted epoch and then reads the epoch. With
 * {@code setRelease} for the write of the wanted epoch, mode quick finds lost waiters on x86.
 */
@JCStressTest
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "called once")
@Outcome(expect = Expect.FORBIDDEN, desc = "forgotten, or called twice")
@State
public class RegisteringFrontierWaiterIsNotLost {
    private static final long FIRST = Axis.of(1, 0, CausalDomain.QUEUE, 0);
    private static final long SECOND = Axis.of(1, 0, CausalDomain.QUEUE, 1);

    private final FrontierTracker tracker = FrontierTracker.create();
    private final Frontier both = Frontier.of(FIRST, 1).insertOrRaise(SECOND, 1);
    private final AtomicInteger called = new AtomicInteger();

    /** For jcstress. */
    public RegisteringFrontierWaiterIsNotLost() {
        tracker.register(FIRST);
        tracker.register(SECOND);
    }

    /** Advances the axes, in the opposite order of the waits. */
    @Actor
    public void queues() {
        tracker.advance(SECOND, 1);
        tracker.advance(FIRST, 1);
    }

    /** Registers. */
    @Actor
    public void waiter() {
        tracker.whenCompleted(both, failure -> called.incrementAndGet());
    }

    /** Number of calls. */
    @Arbiter
    public void outcome(I_Result r) {
        r.r1 = called.get();
    }
}
