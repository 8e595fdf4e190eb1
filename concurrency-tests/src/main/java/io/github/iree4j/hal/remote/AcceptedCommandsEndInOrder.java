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
 * Claim: two commands of a lane, accepted while a resource of the first command is being made, end once each, in order.
 *
 * <p>REMOTE-5: only the head is started, by one thread at a time, and the next command after the end of the head.
 */
@JCStressTest
@Outcome(id = "1 2, 2", expect = Expect.ACCEPTABLE, desc = "in order")
@Outcome(expect = Expect.FORBIDDEN, desc = "a command hangs, ends twice, or overtakes the other")
@State
public class AcceptedCommandsEndInOrder {
    private final StressPeer peer = new StressPeer();
    private final ServerLane lane =
            new ServerLane(peer.session.server(), StressPeer.AXIS, null); // no step uses the queue
    private final ServerObject object = new ServerObject("object", null, () -> {});
    private final AtomicInteger released = new AtomicInteger();

    /** For jcstress. */
    public AcceptedCommandsEndInOrder() {}

    /** A command without steps. */
    private ServerCommand command(int sequence) {
        ServerCommand command = new ServerCommand(sequence, sequence, 0);
        command.own(released::incrementAndGet);
        return command;
    }

    /** Both are accepted. */
    @Actor
    public void transport() {
        ServerCommand first = command(1);
        object.retain();
        first.use(object);
        lane.accept(first);
        lane.accept(command(2));
    }

    /** The resource of the first command is made. */
    @Actor
    public void maker() {
        object.settle(null, null);
    }

    /** The reported ends, and the number of releases. */
    @Arbiter
    public void outcome(LL_Result r) {
        r.r1 = peer.sequences(FrameType.COMPLETED);
        r.r2 = released.get();
    }
}
