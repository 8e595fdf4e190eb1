package io.github.iree4j.async.io;

import io.github.iree4j.status.IreeException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Claim: a message arriving during the close of the proactor is refused, or run before the close returns or the owner
 * polls again.
 *
 * <p>PROACTOR-3: the owner does not end before the last sender has left.
 */
@JCStressTest
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "accepted and run")
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "refused")
@Outcome(expect = Expect.FORBIDDEN, desc = "accepted and dropped")
@State
public class AcceptedMessageIsRun {
    private final Proactor proactor = Proactor.create("stress", new ParkingSource(), System::nanoTime);
    private int accepted;
    private int ran;

    /** For jcstress. */
    public AcceptedMessageIsRun() {}

    /** Sends. */
    @Actor
    public void sender() {
        try {
            proactor.execute(() -> ran++);
            accepted = 1;
        } catch (IreeException closed) {
            accepted = 0;
        }
    }

    /** Closes, and polls until the end. */
    @Actor
    public void closer() {
        proactor.close();
    }

    /** Whether the message was accepted, and run. */
    @Arbiter
    public void outcome(II_Result r) {
        r.r1 = accepted;
        r.r2 = ran;
    }
}
