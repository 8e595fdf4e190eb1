package io.github.iree4j.lifetime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Claim: the content of a closed object is freed exactly once, and never during an admitted use.
 *
 * <p>FRONT-1: the user writes a plain field during the use; the freeing thread must see the use as not begun or as
 * ended.
 */
@JCStressTest
@Outcome(id = "1, 0, 1", expect = Expect.ACCEPTABLE, desc = "closed first; the use was refused")
@Outcome(id = "1, 2, 1", expect = Expect.ACCEPTABLE, desc = "the use ended before the object was freed")
@Outcome(id = "1, 1, 1", expect = Expect.FORBIDDEN, desc = "freed in the middle of a use")
@Outcome(expect = Expect.FORBIDDEN, desc = "freed twice or never, or closed by both")
@State
public class ClosedObjectIsFreedAfterItsLastUse {
    private int freed;
    private int progress;
    private int progressWhenFreed;
    private int closers;

    private final UseGuard guard = UseGuard.of(() -> "object", () -> {
        freed++;
        progressWhenFreed = progress;
    });

    /** For jcstress. */
    public ClosedObjectIsFreedAfterItsLastUse() {}

    /** Uses the object, in two steps. */
    @Actor
    public void user() {
        if (guard.tryEnter()) {
            progress = 1;
            progress = 2;
            guard.exit();
        }
    }

    /** Closes the object twice. */
    @Actor
    public void closer() {
        closers += guard.close() ? 1 : 0;
        closers += guard.close() ? 1 : 0;
    }

    /** The state seen when freed. */
    @Arbiter
    public void outcome(III_Result r) {
        r.r1 = freed;
        r.r2 = progressWhenFreed;
        r.r3 = closers;
    }
}
