package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.stream.Lane;
import io.github.iree4j.hal.stream.StressSubmissions;
import java.util.List;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/**
 * Claim: commands submitted while the stream gets room are sent once each, in order, and none is left over.
 *
 * <p>REMOTE-4: one thread at a time sends, and looks again on the request of another.
 */
@JCStressTest
@Outcome(id = "1 2", expect = Expect.ACCEPTABLE, desc = "in order")
@Outcome(expect = Expect.FORBIDDEN, desc = "left over, twice, or out of order")
@State
public class LaneSendsEachCommandOnce {
    private final StressPeer peer = new StressPeer();
    private final Lane lane = new RemoteDriver(peer.session, 0, 1).lanes().getFirst();

    /** For jcstress. */
    public LaneSendsEachCommandOnce() {}

    /** Submits two operations. */
    @Actor
    public void submitter() {
        lane.submit(List.of(StressSubmissions.plain(1)));
        lane.submit(List.of(StressSubmissions.plain(2)));
    }

    /** The stream has room. */
    @Actor
    public void transport() {
        ((RemoteLane) lane).advance();
        ((RemoteLane) lane).advance();
    }

    /** The commands sent. */
    @Arbiter
    public void outcome(L_Result r) {
        r.r1 = peer.sequences(FrameType.COMMAND);
    }
}
