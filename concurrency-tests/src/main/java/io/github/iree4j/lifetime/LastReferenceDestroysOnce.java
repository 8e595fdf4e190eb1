package io.github.iree4j.lifetime;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Claim: a resource is destroyed exactly once, and the destroying thread sees the writes of every holder.
 *
 * <p>LIFE-1: the count is the only synchronisation between the two plain writes and the reads in destroy().
 */
@JCStressTest
@Outcome(id = "1, 1, 1", expect = Expect.ACCEPTABLE, desc = "destroyed once, both holders' writes visible")
@Outcome(expect = Expect.FORBIDDEN, desc = "destroyed twice or never, or a write came too late")
@State
public class LastReferenceDestroysOnce {
    private int writtenByHolder;
    private int writtenByCreator;
    private int destroyed;
    private int seenOfHolder;
    private int seenOfCreator;

    private final Resource resource = new Resource() {
        @Override
        protected void destroy() {
            destroyed++;
            seenOfHolder = writtenByHolder;
            seenOfCreator = writtenByCreator;
        }
    };

    /** Retains the holder's reference before the actors start. */
    public LastReferenceDestroysOnce() {
        resource.retain();
    }

    /** The holder. */
    @Actor
    public void holder() {
        writtenByHolder = 1;
        resource.release();
    }

    /** The creator, closing twice. */
    @Actor
    public void creator() {
        writtenByCreator = 1;
        resource.close();
        resource.close();
    }

    /** The writes seen by destroy(). */
    @Arbiter
    public void outcome(III_Result r) {
        r.r1 = destroyed;
        r.r2 = seenOfHolder;
        r.r3 = seenOfCreator;
    }
}
