package io.github.iree4j.hal.remote;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * Claim: commands accepted while the session fails end once each: the resources of a command are released once, and no
 * end is reported twice.
 *
 * <p>REMOTE-5: a command is started or abandoned, by compare-and-set, and a failed lane takes no command.
 */
@JCStressTest
@Outcome(id = "(|1|1 2), 2", expect = Expect.ACCEPTABLE, desc = "each ended once")
@Outcome(expect = Expect.FORBIDDEN, desc = "a command is never released, or twice")
@State
public class AcceptedCommandEndsWithItsSession {
    private final StressPeer peer = new StressPeer();
    private final ServerLane lane =
            new ServerLane(peer.session.server(), StressPeer.AXIS, null); // no step uses the queue
    private final AtomicInteger released = new AtomicInteger();

    /** For jcstress. */
    public AcceptedCommandEndsWithItsSession() {}

    /** A command without steps. */
    private ServerCommand command(int sequence) {
        ServerCommand command = new ServerCommand(sequence, sequence, 0);
        command.own(released::incrementAndGet);
        return command;
    }

    /** Both are accepted. */
    @Actor
    public void transport() {
        lane.accept(command(1));
        lane.accept(command(2));
    }

    /** The session fails. */
    @Actor
    public void failer() {
        lane.fail(StressPeer.LOST);
    }

    /** The reported ends, and the number of releases. */
    @Arbiter
    public void outcome(LL_Result r) {
        r.r1 = peer.sequences(FrameType.COMPLETED);
        r.r2 = released.get();
    }
}
