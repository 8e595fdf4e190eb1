package io.github.iree4j.call;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Claim: additions to a plain field by a thread and by a call without a thread, each during its turn, are not lost.
 *
 * <p>PROGRAM-1: if the turn could be taken while being given to a waiter, some additions would be lost.
 */
@JCStressTest
@Outcome(id = "6", expect = Expect.ACCEPTABLE, desc = "all added")
@Outcome(expect = Expect.FORBIDDEN, desc = "two holders at once, or a holder missed the other's write")
@State
public class ProgramLockHasOneHolder {
    private final ProgramLock lock = new ProgramLock();
    private int sum;

    /** Adds when given the turn, perhaps on the other thread. */
    private final class Adder extends ProgramLock.Place {
        @Override
        void granted() {
            sum += 2;
            lock.release();
        }
    }

    /** For jcstress. */
    public ProgramLockHasOneHolder() {}

    /** Adds twice, on the own thread. */
    @Actor
    public void thread() {
        for (int i = 0; i < 2; i++) {
            lock.takeUninterruptibly();
            sum += 1;
            lock.release();
        }
    }

    /** Queues two more additions, on any thread. */
    @Actor
    public void places() {
        lock.join(new Adder());
        lock.join(new Adder());
    }

    /** The sum; a final release serves the rest of the line. */
    @Arbiter
    public void outcome(I_Result r) {
        lock.takeUninterruptibly();
        r.r1 = sum;
    }
}
