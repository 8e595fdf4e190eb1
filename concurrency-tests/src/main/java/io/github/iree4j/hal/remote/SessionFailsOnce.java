package io.github.iree4j.hal.remote;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * Claim: a session failed by two threads for different reasons fails once, and every part with the same reason.
 *
 * <p>REMOTE-1: the failure is set once, and the setting thread fails the parts.
 */
@JCStressTest
@Outcome(id = "1 told, 1 end of each, one cause", expect = Expect.ACCEPTABLE, desc = "failed once")
@Outcome(expect = Expect.FORBIDDEN, desc = "failed twice, in part, or for different reasons")
@State
public class SessionFailsOnce {
    private static final IreeException OTHER = IreeException.of(StatusCode.ABORTED, "lost otherwise");

    private final StressPeer peer = new StressPeer();
    private final ConcurrentLinkedQueue<IreeException> ends = new ConcurrentLinkedQueue<>();

    /** The peer has an axis, and a transfer is under way. */
    public SessionFailsOnce() {
        peer.session.peerAxes().believed(Frontier.of(StressPeer.AXIS, 1));
        peer.session.transfers().receive(2, 0, MemorySegment.ofArray(new byte[8]), false, () -> null, ends::add);
    }

    /** The first reason. */
    @Actor
    public void one() {
        peer.session.fail(StressPeer.LOST);
    }

    /** Another reason. */
    @Actor
    public void other() {
        peer.session.fail(OTHER);
    }

    /** The outcomes by recipient. */
    @Arbiter
    @SuppressWarnings("ReferenceEquality")
    public void outcome(LL_Result r) {
        IreeException cause = peer.session.failure();
        boolean same = ends.stream().allMatch(each -> each == cause) && peer.tracker.failure(StressPeer.AXIS) == cause;
        r.r1 = peer.failures.get() + " told";
        r.r2 = ends.size() + " end of each, " + (same ? "one cause" : "two causes");
    }
}
