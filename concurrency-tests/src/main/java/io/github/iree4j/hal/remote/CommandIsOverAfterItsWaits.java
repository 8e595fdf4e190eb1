package io.github.iree4j.hal.remote;

import io.github.iree4j.hal.stream.StressSubmissions;
import java.util.List;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Claim: a command is over at the client after the awaited points, whichever end arrives first, and is over once both
 * have arrived.
 *
 * <p>REMOTE-6: the head of a lane checks for reached points, and is called on reaching.
 */
@JCStressTest
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "the wait was over by then")
@Outcome(id = "0, .*", expect = Expect.FORBIDDEN, desc = "over before the awaited point")
@Outcome(expect = Expect.FORBIDDEN, desc = "never over")
@State
public class CommandIsOverAfterItsWaits {
    private static final FrameReader FRAME =
            StressPeer.frame(new FrameWriter(FrameType.COMPLETED)); // names what is wrong, which nothing is

    private final StressPeer peer = new StressPeer();
    private final RemoteLane first;
    private final RemoteLane second;
    private volatile int seen = -1; // how far the first lane was when the second was done

    /** A command waits for a command of another lane; both have been sent. */
    public CommandIsOverAfterItsWaits() {
        RemoteDriver driver = new RemoteDriver(peer.session, 0, 2);
        first = (RemoteLane) driver.lanes().get(0);
        second = (RemoteLane) driver.lanes().get(1);
        RemoteTimeline never = (RemoteTimeline) driver.createTimeline(0, false);
        first.submit(List.of(StressSubmissions.after(1, never, 1)));
        never.raise(1);
        second.submit(List.of(StressSubmissions.after(1, first.timeline(), 1)));
        second.whenReached(1, _ -> seen = (int) first.timeline().value());
    }

    /** The first command has ended. */
    @Actor
    public void one() {
        first.completed(FRAME, 1, 1, null);
    }

    /** The second has. */
    @Actor
    public void other() {
        second.completed(FRAME, 1, 1, null);
    }

    /** The order at the client, and the end. */
    @Arbiter
    public void outcome(II_Result r) {
        r.r1 = seen;
        r.r2 = (int) second.timeline().value();
    }
}
