package io.github.iree4j.task;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Claim: a dependent that is added while the process completes is woken once.
 *
 * <p>TASK-5: one atomic step takes and closes the stack of dependents.
 */
@JCStressTest
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "drained once")
@Outcome(expect = Expect.FORBIDDEN, desc = "never, or twice")
@State
public class LateDependentIsWokenOnce {
    private final SteppedExecutor stepped = ProcessExecutor.builder(1).buildStepped();
    private final StressProcess process = StressProcess.listed();
    private final StressProcess dependent = StressProcess.listed();

    /** For jcstress. */
    public LateDependentIsWokenOnce() {
        process.result = DrainResult.COMPLETED;
        dependent.result = DrainResult.COMPLETED;
        stepped.executor().submit(process);
    }

    /** Completes it. */
    @Actor
    public void worker() {
        stepped.step(0);
    }

    /** Adds a dependent. */
    @Actor
    public void adder() {
        process.addDependent(dependent);
    }

    /** How often the dependent was drained. */
    @Arbiter
    public void outcome(I_Result r) {
        stepped.runUntilAsleep();
        r.r1 = dependent.drains;
    }
}
