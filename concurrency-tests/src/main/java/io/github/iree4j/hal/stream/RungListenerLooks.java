package io.github.iree4j.hal.stream;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Claim: a listener falling asleep while an entry arrives looks at the entry.
 *
 * <p>GPU-5: the listener sees the ring, or the ringing thread sees the sleeping listener.
 */
@JCStressTest
@Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "seen")
@Outcome(expect = Expect.FORBIDDEN, desc = "the listener slept on")
@State
public class RungListenerLooks {
    private final Doorbell doorbell = new Doorbell();
    private volatile Thread listener;
    private volatile boolean begun;
    private volatile boolean slept;
    private int come; // published by the doorbell

    /** For jcstress. */
    public RungListenerLooks() {}

    /** Brings something once the listener is there. */
    @Actor
    public void bringer(II_Result r) {
        while (!begun) {
            Thread.onSpinWait();
        }
        come = 1;
        doorbell.ring(listener);
        // A listener that is not woken is found out, and woken.
        long begin = System.nanoTime();
        while (!slept) {
            if (System.nanoTime() - begin > TimeUnit.SECONDS.toNanos(2)) {
                r.r1 = 1;
                LockSupport.unpark(listener);
            }
            Thread.onSpinWait();
        }
    }

    /** Looks, and sleeps when there is nothing. */
    @Actor
    public void listener(II_Result r) {
        listener = Thread.currentThread();
        begun = true;
        for (doorbell.clear(); come == 0; doorbell.clear()) {
            doorbell.await();
        }
        r.r2 = come;
        slept = true;
    }
}
