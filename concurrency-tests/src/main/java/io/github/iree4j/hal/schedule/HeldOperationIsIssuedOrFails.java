package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * Claim: an operation is not issued and fails once if a wait is reached while the other fails; if reached first, the
 * operation runs.
 *
 * <p>SCHED-1: the thread taking the count of the deferral to zero or below owns the operation.
 */
@JCStressTest
@Outcome(
        id = "(ran|did not run: DATA_LOSS), (ran|did not run: DATA_LOSS)",
        expect = Expect.ACCEPTABLE,
        desc = "each of the two ran or failed")
@Outcome(expect = Expect.FORBIDDEN, desc = "twice, never, or half")
@State
public class HeldOperationIsIssuedOrFails {
    private static final IreeException CAUSE = IreeException.of(StatusCode.DATA_LOSS, "lost on purpose");

    private final TimelineSemaphore good = TimelineSemaphore.create(0);
    private final TimelineSemaphore bad = TimelineSemaphore.create(0);
    private final Fence wait = Fence.of(List.of(new Fence.Entry(good, 1), new Fence.Entry(bad, 1)));
    private final ManualQueue stream = ManualQueue.stream();
    private final ManualQueue unordered = ManualQueue.unordered();
    private final CountedOperation first = stream.submit(wait);
    private final CountedOperation second = unordered.submit(wait);

    /** For jcstress. */
    public HeldOperationIsIssuedOrFails() {}

    /** Reaches both waits unless a wait has failed. */
    @Actor
    public void signaller() {
        good.signal(1);
        try {
            bad.signal(1);
        } catch (IreeException failedBefore) {
            return;
        }
        stream.complete(null);
        unordered.complete(null);
    }

    /** Fails a wait. */
    @Actor
    public void failer() {
        bad.fail(CAUSE);
    }

    /** The outcomes of the stream's operation and of the unordered queue's. */
    @Arbiter
    public void outcome(LL_Result r) {
        stream.complete(null);
        unordered.complete(null);
        r.r1 = first.outcome();
        r.r2 = second.outcome();
    }
}
