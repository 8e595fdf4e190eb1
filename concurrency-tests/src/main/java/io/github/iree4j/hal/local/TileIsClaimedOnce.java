package io.github.iree4j.hal.local;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;

/**
 * Claim: two threads claiming tiles of the same region claim each tile once.
 *
 * <p>BLOCK-1: a claim is a compare-and-set of the remaining tiles.
 */
@JCStressTest
@Outcome(id = "1, 1, 0, 1", expect = Expect.ACCEPTABLE, desc = "each ran once")
@Outcome(expect = Expect.FORBIDDEN, desc = "a tile ran twice or not at all, or the end came twice or never")
@State
public class TileIsClaimedOnce {
    private final CountedTiles tiles = new CountedTiles(1, new int[] {3});

    /** A region of three tiles. */
    public TileIsClaimedOnce() {}

    /** Claims tiles. */
    @Actor
    public void one() {
        tiles.drainAs(0);
    }

    /** Claims tiles too. */
    @Actor
    public void other() {
        tiles.drainAs(1);
    }

    /** The fewest and most runs of a tile, tiles that missed earlier writes, and executions ended. */
    @Arbiter
    public void outcome(IIII_Result r) {
        tiles.drainRest();
        r.r1 = tiles.fewestRuns();
        r.r2 = tiles.mostRuns();
        r.r3 = tiles.unseen();
        r.r4 = tiles.ends();
    }
}
