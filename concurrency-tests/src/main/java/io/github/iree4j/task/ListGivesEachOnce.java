package io.github.iree4j.task;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Claim: two threads taking from a list of two get one entry each, and see the writes before the push.
 *
 * <p>TASK-15: taking is a single compare-and-set of the first link with the change counter.
 */
@JCStressTest
@Outcome(id = "12, 0", expect = Expect.ACCEPTABLE, desc = "each got one")
@Outcome(expect = Expect.FORBIDDEN, desc = "an entry was lost or taken twice")
@State
public class ListGivesEachOnce {
    private final ListNodes nodes = new ListNodes();
    private final ProcessList list = new ProcessList(nodes);
    private final StressProcess[] processes = {StressProcess.listed(), StressProcess.listed()};
    private int one;
    private int other;

    /** For jcstress. */
    public ListGivesEachOnce() {
        for (int i = 0; i < 2; i++) {
            processes[i].node = nodes.take();
            processes[i].work = i + 1;
            list.push(processes[i]);
        }
    }

    private int take() {
        TaskProcess taken = list.pop();
        return taken == null ? 0 : ((StressProcess) taken).work;
    }

    /** Takes an entry. */
    @Actor
    public void first() {
        one = take();
    }

    /** Takes an entry. */
    @Actor
    public void second() {
        other = take();
    }

    /** The entries taken, sorted, and the entries left. */
    @Arbiter
    public void outcome(II_Result r) {
        r.r1 = Math.min(one, other) * 10 + Math.max(one, other);
        r.r2 = take();
    }
}
