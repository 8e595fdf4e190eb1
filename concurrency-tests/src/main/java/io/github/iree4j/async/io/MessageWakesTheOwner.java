package io.github.iree4j.async.io;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Claim: the owner runs a message arriving while the owner falls asleep.
 *
 * <p>PROACTOR-1: the owner sees the message, or the sender sees the owner asleep.
 */
@JCStressTest
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "run")
@Outcome(expect = Expect.FORBIDDEN, desc = "the owner slept on")
@State
public class MessageWakesTheOwner {
    private final Proactor proactor = Proactor.create("stress", new ParkingSource(), System::nanoTime);
    private int ran;

    /** For jcstress. */
    public MessageWakesTheOwner() {}

    /** Sends. */
    @Actor
    public void sender() {
        proactor.execute(() -> ran++);
    }

    /** Sleeps for a noticeable time. */
    @Actor
    public void owner() {
        long begin = System.nanoTime();
        while (ran == 0 && System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(4)) {
            proactor.poll(Duration.ofSeconds(5));
        }
        if (System.nanoTime() - begin >= TimeUnit.SECONDS.toNanos(4)) {
            ran = -1;
        }
    }

    /** How often the message was run. */
    @Arbiter
    public void outcome(I_Result r) {
        r.r1 = ran;
        proactor.close();
    }
}
