package io.github.iree4j.hal.schedule;

import io.github.iree4j.hal.Buffer;
import java.lang.foreign.MemorySegment;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIZ_Result;

/**
 * Claim: of two owners discarding an allocation, one is the last; during a loan neither is the last, and an owner
 * stays.
 *
 * <p>BUF-3: owners and loans share a word, so no decision about one falls while the other changes.
 */
@JCStressTest
@Outcome(id = "0, 1, false", expect = Expect.ACCEPTABLE, desc = "the second came after the loan and was the last")
@Outcome(id = "0, 0, true", expect = Expect.ACCEPTABLE, desc = "the last came during the loan: an owner stays")
@Outcome(expect = Expect.FORBIDDEN, desc = "an allocation was freed while lent, or twice, or never can be")
@State
public class OneDiscardIsTheLast {
    private final Buffer buffer = new Buffer(0, 0, 0, 64) {
        @Override
        protected MemorySegment hostBytes(long offset, long length) {
            return MemorySegment.NULL;
        }

        @Override
        protected void destroy() {}
    };

    /** Two owners, and a call borrowing the allocation. */
    public OneDiscardIsTheLast() {
        buffer.preserve();
        buffer.lend();
    }

    /**
     * The borrower, also an owner.
     *
     * @param r whether this owner was the last
     */
    @Actor
    public void borrower(IIZ_Result r) {
        r.r1 = buffer.discard() ? 1 : 0;
        buffer.endLoan();
    }

    /**
     * The other owner.
     *
     * @param r whether this owner was the last
     */
    @Actor
    public void owner(IIZ_Result r) {
        r.r2 = buffer.discard() ? 1 : 0;
    }

    /**
     * Whether an owner is left.
     *
     * @param r whether the next discard is the last
     */
    @Arbiter
    public void left(IIZ_Result r) {
        r.r3 = buffer.isTerminal();
    }
}
