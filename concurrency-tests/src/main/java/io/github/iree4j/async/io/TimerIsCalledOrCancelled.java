package io.github.iree4j.async.io;

import io.github.iree4j.async.Cancellation;
import java.time.Duration;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Claim: a timer cancelled while becoming due is either called or cancelled.
 *
 * <p>PROACTOR-2: the thread removing the timer from the set decides.
 */
@JCStressTest
@Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "called; cancelled too late")
@Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "cancelled")
@Outcome(expect = Expect.FORBIDDEN, desc = "both or neither")
@State
public class TimerIsCalledOrCancelled {
    private final Proactor proactor = Proactor.create("stress", new ParkingSource(), () -> 0);
    private int called;
    private int cancelled;
    private final Cancellation timer = proactor.after(Duration.ZERO, (_, _) -> called++);

    /** For jcstress. */
    public TimerIsCalledOrCancelled() {}

    /** Polls. */
    @Actor
    public void owner() {
        proactor.poll();
    }

    /** Cancels. */
    @Actor
    public void canceller() {
        cancelled = timer.cancel() ? 1 : 0;
    }

    /** Numbers of calls and of cancellations. */
    @Arbiter
    public void outcome(II_Result r) {
        r.r1 = called;
        r.r2 = cancelled;
        proactor.close();
    }
}
