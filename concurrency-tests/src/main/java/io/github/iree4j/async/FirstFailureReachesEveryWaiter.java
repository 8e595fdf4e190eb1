package io.github.iree4j.async;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZI_Result;

/**
 * Claim: of two failures the first wins, and waiters registered before or meanwhile get the winner.
 *
 * <p>SEM-7: the failure is tested and set, and waiters are linked and unlinked, under the same lock.
 */
@JCStressTest
@Outcome(id = "true, 2", expect = Expect.ACCEPTABLE, desc = "both waiters got the winning failure, once")
@Outcome(expect = Expect.FORBIDDEN, desc = "a waiter got none, two, or the losing failure")
@State
public class FirstFailureReachesEveryWaiter {
    private static final IreeException LOST = IreeException.of(StatusCode.DATA_LOSS, "lost");
    private static final IreeException ABORTED = IreeException.of(StatusCode.ABORTED, "aborted");

    private final TimelineSemaphore timeline = TimelineSemaphore.create(0);
    private final IreeException[] got = new IreeException[4];
    private int calls;

    /** For jcstress. */
    public FirstFailureReachesEveryWaiter() {
        timeline.whenReached(1, (value, failure) -> record(failure));
    }

    private synchronized void record(IreeException failure) {
        got[calls++] = failure;
    }

    /** Fails the timeline with the first cause. */
    @Actor
    public void loser() {
        timeline.fail(LOST);
    }

    /** Registers, then fails the other way. */
    @Actor
    public void aborter() {
        timeline.whenReached(2, (value, failure) -> record(failure));
        timeline.fail(ABORTED);
    }

    /** The failure that the waiters got. */
    @Arbiter
    public void outcome(ZI_Result r) {
        r.r1 = got[0] == timeline.failure() && got[1] == timeline.failure();
        r.r2 = calls;
    }
}
