package io.github.iree4j.task;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Claim: a worker falling asleep while work is put on the list either finds the work or is woken.
 *
 * <p>TASK-11: as for slots, except for a check of the list itself.
 */
@JCStressTest
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "awake, or the worker has drained")
@Outcome(id = "0", expect = Expect.FORBIDDEN, desc = "asleep, with work on the list")
@State
public class WorkerFallingAsleepIsWokenForTheList {
    private final SteppedExecutor stepped = ProcessExecutor.builder(1).buildStepped();
    private final StressProcess process = StressProcess.listed();

    /** For jcstress. */
    public WorkerFallingAsleepIsWokenForTheList() {}

    /** Finds nothing and falls asleep. */
    @Actor
    public void worker() {
        stepped.step(0);
    }

    /** Makes work. */
    @Actor
    public void signaller() {
        stepped.executor().submit(process);
    }

    /** Whether the work is done or about to be. */
    @Arbiter
    public void outcome(I_Result r) {
        r.r1 = process.drains > 0 || !stepped.isAsleep(0) ? 1 : 0;
    }
}
