package io.github.iree4j.call;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZZ_Result;

/**
 * Claim: a waiter leaving the line while the turn is passed on has the turn or not, as {@code leave} reports; and the
 * next waiter gets the turn as soon as the turn is free.
 *
 * <p>PROGRAM-2: if leaving could miss a turn just given, the turn would never be passed on.
 */
@JCStressTest
@Outcome(id = "true, false, true", expect = Expect.ACCEPTABLE, desc = "left in time; the next waiter has the turn")
@Outcome(
        id = "false, true, false",
        expect = Expect.ACCEPTABLE,
        desc = "given before; the next waiter waits for the turn")
@Outcome(expect = Expect.FORBIDDEN, desc = "nobody has the turn, or two waiters have it")
@State
public class PlaceInLineIsGivenOrLeft {
    private static final class Silent extends ProgramLock.Place {
        @Override
        void granted() {}
    }

    private final ProgramLock lock = new ProgramLock();
    private final Silent leaving = new Silent();
    private final Silent behind = new Silent();
    private boolean left;

    /** The turn is taken, and two are in line. */
    public PlaceInLineIsGivenOrLeft() {
        lock.takeUninterruptibly();
        lock.join(leaving);
        lock.join(behind);
    }

    /** Passes the turn on. */
    @Actor
    public void release() {
        lock.release();
    }

    /** Gives the first place up. */
    @Actor
    public void leave() {
        left = lock.leave(leaving);
    }

    /** The holder of the turn. */
    @Arbiter
    public void outcome(ZZZ_Result r) {
        r.r1 = left;
        r.r2 = leaving.isGiven();
        r.r3 = behind.isGiven();
    }
}
