package io.github.iree4j.hal.local;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;

/**
 * Claim: the thread completing a region opens the next, exactly one thread does so, and the new tiles see earlier
 * writes.
 *
 * <p>BLOCK-2: exactly one thread's subtraction takes the number of undone tiles to 0.
 *
 * <p>BLOCK-3: a claim reads the state published by this thread.
 */
@JCStressTest
@Outcome(id = "1, 1, 0, 1", expect = Expect.ACCEPTABLE, desc = "one region after the other")
@Outcome(expect = Expect.FORBIDDEN, desc = "a region was opened early, twice or never")
@State
public class RegionIsOpenedOnce {
    private final CountedTiles tiles = new CountedTiles(1, new int[] {2}, new int[] {1, 1}, new int[] {2});

    /** Three regions. */
    public RegionIsOpenedOnce() {}

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
