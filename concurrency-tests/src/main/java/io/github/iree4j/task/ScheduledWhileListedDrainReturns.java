package io.github.iree4j.task;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Claim: a process scheduled while the last drain returns without having found work is drained again.
 *
 * <p>TASK-7: a single word decides between falling asleep and scheduling.
 */
@JCStressTest
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "the work was seen by a later drain")
@Outcome(id = "0", expect = Expect.FORBIDDEN, desc = "lost: asleep, with work present")
@State
public class ScheduledWhileListedDrainReturns {
    private final SteppedExecutor stepped = ProcessExecutor.builder(1).buildStepped();
    private final StressProcess process = StressProcess.listed();

    /** For jcstress. */
    public ScheduledWhileListedDrainReturns() {
        stepped.executor().submit(process);
    }

    /** Drains once or twice. */
    @Actor
    public void worker() {
        stepped.step(0);
    }

    /** Makes work. */
    @Actor
    public void signaller() {
        process.work = 1;
        process.schedule();
    }

    /** Whether the work was seen once all is quiet. */
    @Arbiter
    public void outcome(I_Result r) {
        stepped.runUntilAsleep();
        r.r1 = process.drained;
    }
}
