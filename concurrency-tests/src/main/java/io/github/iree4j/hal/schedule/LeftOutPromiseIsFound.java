package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.SchedulingDomain;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/**
 * Claim: a queue joining a timeline while the home queue promises finds every promise, the dropped promises and the new
 * promise.
 *
 * <p>SCOPE-2: the history is extended before the home recalls promises, and an operation is on the home's list before
 * promising.
 */
@JCStressTest
@Outcome(id = "1 2 3", expect = Expect.ACCEPTABLE, desc = "each value has the promise of the right operation")
@Outcome(expect = Expect.FORBIDDEN, desc = "a promise was lost")
@State
public class LeftOutPromiseIsFound {
    private final SchedulingDomain domain = ManualQueue.domain();
    private final ManualQueue home = ManualQueue.stream(domain);
    private final ManualQueue other = ManualQueue.stream(domain);
    private final TimelineSemaphore timeline = TimelineSemaphore.create(0);
    private final Fence first = Fence.at(timeline, 1);

    /** For jcstress. */
    public LeftOutPromiseIsFound() {
        signal(home, null, 1);
        signal(home, null, 2);
    }

    private void signal(ManualQueue queue, Fence wait, long value) {
        try (Fence signal = Fence.at(timeline, value)) {
            queue.scheduler.submit(wait, signal, CountedOperation::new);
        }
    }

    /** The home makes another promise. */
    @Actor
    public void promising() {
        signal(home, null, 3);
    }

    /** The other queue joins the timeline. */
    @Actor
    public void coming() {
        signal(other, first, 4);
    }

    /** The operations known to signal. */
    @Arbiter
    public void outcome(L_Result r) {
        StringBuilder epochs = new StringBuilder();
        for (long value = 1; value <= 3; value++) {
            Frontier frontier = timeline.frontierAt(value);
            epochs.append(value == 1 ? "" : " ").append(frontier == null ? "none" : frontier.producerEpoch());
        }
        home.complete(null);
        other.complete(null);
        r.r1 = epochs.toString();
    }
}
