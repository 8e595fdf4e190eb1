package io.github.iree4j.task;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Claim: a process that a caller wants to drain while it is being scheduled is drained by one thread at a time.
 *
 * <p>TASK-7: one word decides between owning and listing it.
 */
@JCStressTest
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "one drain ended it")
@Outcome(expect = Expect.FORBIDDEN, desc = "two threads drained it concurrently, or it was lost")
@State
public class CallerOrWorkerHasIt {
    private final SteppedExecutor stepped = ProcessExecutor.builder(1).buildStepped();
    private final StressProcess process = StressProcess.listed();

    /** For jcstress. */
    public CallerOrWorkerHasIt() {
        stepped.executor().submit(process);
        stepped.runUntilAsleep();
        process.drains = 0;
        process.result = DrainResult.COMPLETED;
    }

    /** Drains inline, if it becomes the owner. */
    @Actor
    public void caller() {
        stepped.executor().tryDrainInline(process);
    }

    /** Leaves it to a worker. */
    @Actor
    public void signaller() {
        process.schedule();
    }

    /** How often it was drained and completed. */
    @Arbiter
    public void outcome(II_Result r) {
        stepped.runUntilAsleep();
        if (process.drains == 0) {
            process.schedule();
            stepped.runUntilAsleep();
        }
        r.r1 = process.drains;
        r.r2 = process.completions;
    }
}
