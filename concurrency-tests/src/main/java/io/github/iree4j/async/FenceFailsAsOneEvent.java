package io.github.iree4j.async;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Claim: a thread seeing a failed timeline of a fence sees the other timelines failed, and no reached timeline counts
 * as reached any more.
 *
 * <p>FENCE-3: all failures are hidden before the first failure is set.
 */
@JCStressTest
@Outcome(id = "0, 0, [01]", expect = Expect.ACCEPTABLE, desc = "not seen, or seen at the last look")
@Outcome(id = "0, 1, 0", expect = Expect.ACCEPTABLE, desc = "seen as a whole at the second look")
@Outcome(id = "1, 1, 0", expect = Expect.ACCEPTABLE, desc = "seen as a whole at the first look")
@Outcome(expect = Expect.FORBIDDEN, desc = "a timeline was seen failed and then the other timeline not")
@State
public class FenceFailsAsOneEvent {
    private static final IreeException LOST = IreeException.of(StatusCode.DATA_LOSS, "lost");

    private final TimelineSemaphore left = TimelineSemaphore.create(1);
    private final TimelineSemaphore right = TimelineSemaphore.create(1);
    private final Fence both = Fence.of(List.of(new Fence.Entry(left, 2), new Fence.Entry(right, 2)));

    /** For jcstress. */
    public FenceFailsAsOneEvent() {}

    /** Fails both. */
    @Actor
    public void failer() {
        both.fail(LOST);
    }

    /** Whether the second has failed, whether the first has, and whether the second is reached. */
    @Actor
    public void reader(III_Result r) {
        r.r1 = right.failure() == null ? 0 : 1;
        r.r2 = left.failure() == null ? 0 : 1;
        r.r3 = right.isReached(1) ? 1 : 0;
    }
}
