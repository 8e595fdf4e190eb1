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
 * Claim: of two owners that discard an allocation one is the last; while it is lent neither is, and one owner stays.
 *
 * <p>BUF-3: owners and loans are one word, so that no decision about one is made while the other changes.
 */
@JCStressTest
@Outcome(id = "0, 1, false", expect = Expect.ACCEPTABLE, desc = "the second came after the loan and was the last")
@Outcome(id = "0, 0, true", expect = Expect.ACCEPTABLE, desc = "the last came during the loan: one owner stays")
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

    /** Two owners, and a call that borrows the allocation. */
    public OneDiscardIsTheLast() {
        buffer.preserve();
        buffer.lend();
    }

    /**
     * The borrower, which is also an owner.
     *
     * @param r whether it was the last
     */
    @Actor
    public void borrower(IIZ_Result r) {
        r.r1 = buffer.discard() ? 1 : 0;
        buffer.endLoan();
    }

    /**
     * The other owner.
     *
     * @param r whether it was the last
     */
    @Actor
    public void owner(IIZ_Result r) {
        r.r2 = buffer.discard() ? 1 : 0;
    }

    /**
     * Whether one owner is left.
     *
     * @param r whether the next discard is the last
     */
    @Arbiter
    public void left(IIZ_Result r) {
        r.r3 = buffer.isTerminal();
    }
}
