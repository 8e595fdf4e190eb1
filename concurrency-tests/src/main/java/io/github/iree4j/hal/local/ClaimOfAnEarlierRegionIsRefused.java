package io.github.iree4j.hal.local;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;

/**
 * Claim: a claim based on the state of an earlier region fails, even if the open region has equally many tiles left.
 *
 * <p>BLOCK-1: the epoch next to the remaining tiles increases with every region, across recordings.
 */
@JCStressTest
@Outcome(id = "3, 3, 0, 3", expect = Expect.ACCEPTABLE, desc = "each ran once in each execution")
@Outcome(expect = Expect.FORBIDDEN, desc = "a tile of another region was run")
@State
public class ClaimOfAnEarlierRegionIsRefused {
    private final CountedTiles tiles = new CountedTiles(3, new int[] {1, 1}, new int[] {2});

    /** Regions with equally many tiles, divided differently, executed several times. */
    public ClaimOfAnEarlierRegionIsRefused() {}

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
