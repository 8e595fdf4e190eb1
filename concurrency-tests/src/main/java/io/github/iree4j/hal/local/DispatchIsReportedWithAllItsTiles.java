package io.github.iree4j.hal.local;

import io.github.iree4j.hal.schedule.DispatchObserver;
import io.github.iree4j.hal.schedule.QueueOperation;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Claim: each dispatch is reported once, in order, with all tiles, by the thread ending the region.
 *
 * <p>BLOCK-4: a thread notes a tile before subtracting the tile, and the reporting thread brings the undone tiles to 0.
 */
@JCStressTest
@Outcome(id = "4, 0, 0", expect = Expect.ACCEPTABLE, desc = "all dispatches, whole and in order")
@Outcome(expect = Expect.FORBIDDEN, desc = "a dispatch was reported early, twice or never")
@State
public class DispatchIsReportedWithAllItsTiles {
    // Plain fields: only the processor under test orders the reporting threads.
    private int reported;
    private int incomplete;
    private int outOfOrder;
    private final CountedTiles tiles =
            new CountedTiles(new Reports(), 1, new int[] {2}, new int[] {1, 2}, new int[] {1});

    /** Three regions, four dispatches. */
    public DispatchIsReportedWithAllItsTiles() {}

    /** Runs tiles. */
    @Actor
    public void one() {
        tiles.drainAs(0);
    }

    /** Runs tiles too. */
    @Actor
    public void other() {
        tiles.drainAs(1);
    }

    /** Reported dispatches, dispatches with tiles missing or without a begin, and dispatches out of order. */
    @Arbiter
    public void outcome(III_Result r) {
        tiles.drainRest();
        r.r1 = reported;
        r.r2 = incomplete;
        r.r3 = outOfOrder;
    }

    private final class Reports implements DispatchObserver {
        @Override
        public long now() {
            return System.nanoTime(); // orders nothing
        }

        @Override
        public void dispatched(QueueOperation operation, int index, Dispatch dispatch) {
            outOfOrder += index == reported ? 0 : 1;
            reported++;
            boolean whole = dispatch.outcome() == DispatchObserver.Outcome.ENDED
                    && dispatch.begin() <= dispatch.end()
                    && dispatch.workers() >= 1
                    && dispatch.workers() <= dispatch.x();
            incomplete += whole ? 0 : 1;
        }
    }
}
