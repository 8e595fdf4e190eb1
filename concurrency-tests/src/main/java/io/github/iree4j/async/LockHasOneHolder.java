package io.github.iree4j.async;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Claim: additions of two threads to a plain field under the lock are not lost: the lock has at most one holder, and
 * each holder sees the writes of the previous holder.
 *
 * <p>LOCK-1: a plain write as the release, or acquisition without a compare-and-set, would lose some.
 */
@JCStressTest
@Outcome(id = "6", expect = Expect.ACCEPTABLE, desc = "all added")
@Outcome(expect = Expect.FORBIDDEN, desc = "two holders at once, or a holder missed the other's write")
@State
public class LockHasOneHolder {
    private final BriefLock lock = new BriefLock() {
        @Override
        protected void destroy() {}
    };
    private int sum;

    /** For jcstress. */
    public LockHasOneHolder() {}

    private void add(int amount) {
        lock.lock();
        try {
            sum += amount;
        } finally {
            lock.unlock();
        }
    }

    /** Adds twice. */
    @Actor
    public void left() {
        add(1);
        add(1);
    }

    /** Adds twice more. */
    @Actor
    public void right() {
        add(2);
        add(2);
    }

    /** The sum. */
    @Arbiter
    public void outcome(I_Result r) {
        r.r1 = sum;
    }
}
