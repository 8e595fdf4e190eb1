package io.github.iree4j.async;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/**
 * Claim: a lookup is a consistent snapshot, although no lock is taken.
 *
 * <p>SEM-4: each value is signalled with an epoch ten times as large, in a history so short as to overwrite records.
 */
@JCStressTest
@Outcome(id = "1, 10", expect = Expect.ACCEPTABLE, desc = "before the new signals")
@Outcome(id = "2, 20", expect = Expect.ACCEPTABLE, desc = "the first was overwritten, the second answers")
@Outcome(id = "3, 30", expect = Expect.ACCEPTABLE, desc = "only the last record is left")
@Outcome(expect = Expect.FORBIDDEN, desc = "value of one signal, frontier of the other")
@State
public class LookupIsASnapshot {
    private static final long AXIS = Axis.of(1, 0, CausalDomain.QUEUE, 0);

    private final TimelineSemaphore timeline =
            TimelineSemaphore.create(SemaphoreOptions.DEFAULTS.withHistoryCapacity(1));

    /** Makes the first signal before the actors start. */
    public LookupIsASnapshot() {
        timeline.signal(1, Frontier.of(AXIS, 10));
    }

    /** Overwrites the only record, twice. */
    @Actor
    public void signaller() {
        timeline.signal(2, Frontier.of(AXIS, 20));
        timeline.signal(3, Frontier.of(AXIS, 30));
    }

    /** Looks up the first value. */
    @Actor
    public void waiter(JJ_Result r) {
        SignalRecord found = new SignalRecord();
        timeline.lookup(1, found);
        r.r1 = found.value();
        r.r2 = found.frontier().epochOf(AXIS);
    }
}
