package io.github.iree4j.hal.remote;

import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.status.IreeException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * Claim: a transfer and a wait for a semaphore, begun while the session fails, are refused or fail with the session.
 *
 * <p>REMOTE-1: each failed part refuses additions, under its own lock.
 */
@JCStressTest
@Outcome(id = "1 end, (refused|failed)", expect = Expect.ACCEPTABLE, desc = "neither hangs")
@Outcome(expect = Expect.FORBIDDEN, desc = "an addition hangs, or ends twice")
@State
public class AdditionFailsWithTheSession {
    private final StressPeer peer = new StressPeer();
    private final AtomicInteger ends = new AtomicInteger();
    private @Nullable TimelineSemaphore proxy;

    /** For jcstress. */
    public AdditionFailsWithTheSession() {}

    /** The session fails. */
    @Actor
    public void failer() {
        peer.session.fail(StressPeer.LOST);
    }

    /** Both begin. */
    @Actor
    public void beginner() {
        peer.session
                .transfers()
                .receive(2, 0, MemorySegment.ofArray(new byte[8]), false, () -> null, _ -> ends.incrementAndGet());
        try {
            proxy = peer.session.semaphore(1, 1);
        } catch (IreeException refused) {
            // As it should be.
        }
    }

    /** Outcomes of the additions. */
    @Arbiter
    public void outcome(LL_Result r) {
        r.r1 = ends.get() + " end";
        r.r2 = proxy == null ? "refused" : proxy.failure() == null ? "waits" : "failed";
    }
}
