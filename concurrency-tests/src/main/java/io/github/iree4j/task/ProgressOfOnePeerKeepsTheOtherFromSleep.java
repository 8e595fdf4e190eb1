package io.github.iree4j.task;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Claim: when a drainer reports work and another finds none, the process stays awake, whichever leaves last.
 *
 * <p>TASK-7: a drainer leaving before others sets PENDING in the same atomic step.
 */
@JCStressTest
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "still in its slot")
@Outcome(id = "0", expect = Expect.FORBIDDEN, desc = "asleep although more work was reported")
@State
public class ProgressOfOnePeerKeepsTheOtherFromSleep {
    private final StressProcess process = StressProcess.slotted();

    /** For jcstress. */
    public ProgressOfOnePeerKeepsTheOtherFromSleep() {
        process.request();
        process.putInSlot(0);
        process.enter();
        process.enter();
    }

    /** Reports work. */
    @Actor
    public void productive() {
        process.leave(true);
    }

    /** Finds none. */
    @Actor
    public void idle() {
        process.leave(false);
    }

    /** The place of the process. */
    @Arbiter
    public void outcome(I_Result r) {
        r.r1 = ProcessSchedule.place(process.wordVolatile()) == ProcessSchedule.SLOTTED ? 1 : 0;
    }
}
