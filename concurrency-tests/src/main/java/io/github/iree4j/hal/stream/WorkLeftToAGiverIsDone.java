package io.github.iree4j.hal.stream;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Claim: work left by threads to the giver of a device is done, once each, and by one thread at a time for each lane.
 *
 * <p>GPU-9: a thread adds before looking for a giver, and an ending giver looks at all lanes once more.
 */
@JCStressTest
@Outcome(id = "3, 0", expect = Expect.ACCEPTABLE, desc = "all was done, by one thread at a time")
@Outcome(expect = Expect.FORBIDDEN, desc = "something was left, or done by two at once")
@State
public class WorkLeftToAGiverIsDone {
    private final AtomicBoolean giver = new AtomicBoolean();
    private final Lane first = new Lane();
    private final Lane second = new Lane();

    /** For jcstress. */
    public WorkLeftToAGiverIsDone() {}

    private static final class Lane {
        private final RunRequests requests = new RunRequests();
        private final ConcurrentLinkedQueue<Integer> held = new ConcurrentLinkedQueue<>();
        private int done; // of the thread that feeds, like the next two
        private boolean busy;
        private int wrong;

        void feed() {
            if (held.isEmpty() || !requests.ask()) {
                return;
            }
            do {
                wrong += busy ? 1 : 0;
                busy = true;
                for (Integer next; (next = held.poll()) != null; ) {
                    done += next;
                }
                busy = false;
            } while (requests.again());
        }
    }

    private void add(Lane lane) {
        lane.held.add(1);
        if (!giver.get()) {
            lane.feed();
        }
    }

    private void feedAll() {
        first.feed();
        second.feed();
    }

    /** Gives everything present, and ends. */
    @Actor
    public void giver() {
        if (giver.compareAndSet(false, true)) {
            feedAll();
            giver.set(false);
            feedAll();
        }
    }

    /** Adds a piece of work to each lane. */
    @Actor
    public void both() {
        add(first);
        add(second);
    }

    /** Adds a piece of work to a lane. */
    @Actor
    public void one() {
        add(second);
    }

    /** How much was done, and how often by two at once. */
    @Arbiter
    public void outcome(II_Result r) {
        r.r1 = first.done + second.done;
        r.r2 = first.wrong + second.wrong;
    }
}
