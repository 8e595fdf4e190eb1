package io.github.iree4j.async;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Claim: a wait for both of two fences, and a wait for the first fence, end once each, by points reached, a failure, or
 * cancellation.
 *
 * <p>FENCE-1 and FENCE-2: a single compare-and-set decides.
 */
@JCStressTest
@Outcome(id = "1, 1, [01]", expect = Expect.ACCEPTABLE, desc = "each ended once")
@Outcome(expect = Expect.FORBIDDEN, desc = "a wait ended twice, or never")
@State
public class JoinedWaitEndsOnce {
    private final TimelineSemaphore left = TimelineSemaphore.create(0);
    private final TimelineSemaphore right = TimelineSemaphore.create(0);
    private final AtomicInteger all = new AtomicInteger();
    private final AtomicInteger any = new AtomicInteger();
    private final Cancellation allWait;
    private int cancelled;

    /** Waits for both, and for the first. */
    public JoinedWaitEndsOnce() {
        List<Fence> fences = List.of(Fence.at(left, 1), Fence.at(right, 1));
        allWait = MultiWait.whenAll(fences, failure -> all.incrementAndGet());
        MultiWait.whenAny(fences, (index, failure) -> any.incrementAndGet());
    }

    /** Reaches a fence, cancels the wait for both. */
    @Actor
    public void signaller() {
        left.signal(1);
        cancelled = allWait.cancel() ? 1 : 0;
    }

    /** Fails the other. */
    @Actor
    public void failer() {
        right.fail(IreeException.of(StatusCode.DATA_LOSS, "lost"));
    }

    /** How often each ended. */
    @Arbiter
    public void outcome(III_Result r) {
        r.r1 = all.get() + cancelled;
        r.r2 = any.get();
        r.r3 = cancelled;
    }
}
