package io.github.iree4j.hal.stream;

import java.util.concurrent.ConcurrentLinkedQueue;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Claim: work added and requested by threads is done, once each, by one thread at a time, with the earlier work seen.
 *
 * <p>GPU-1: the first requesting thread works until no thread requests.
 */
@JCStressTest
@Outcome(id = "4, 0", expect = Expect.ACCEPTABLE, desc = "all was done, by one thread at a time")
@Outcome(expect = Expect.FORBIDDEN, desc = "something was left, or done by two at once")
@State
public class WorkAskedForIsDone {
    private final RunRequests requests = new RunRequests();
    private final ConcurrentLinkedQueue<Integer> added = new ConcurrentLinkedQueue<>();
    private int done; // of the thread that runs, like the next two
    private boolean busy;
    private int wrong;

    /** For jcstress. */
    public WorkAskedForIsDone() {}

    private void add() {
        added.add(1);
        if (!requests.ask()) {
            return;
        }
        do {
            wrong += busy ? 1 : 0;
            busy = true;
            for (Integer next; (next = added.poll()) != null; ) {
                done += next;
            }
            busy = false;
        } while (requests.again());
    }

    /** Adds a piece of work, and another. */
    @Actor
    public void first() {
        add();
        add();
    }

    /** The same. */
    @Actor
    public void second() {
        add();
        add();
    }

    /** How much was done, and how often by two at once. */
    @Arbiter
    public void outcome(II_Result r) {
        r.r1 = done;
        r.r2 = wrong;
    }
}
