package io.github.iree4j.task;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Claim: a suspended process, cancelled while the last event comes, is completed once and released once, by the
 * canceller or by a worker.
 *
 * <p>TASK-2: a single word holds both suspension and end.
 */
@JCStressTest
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "completed once, released once")
@Outcome(expect = Expect.FORBIDDEN, desc = "completed or released otherwise")
@State
public class SuspendedIsCancelledOrWoken {
    private final SteppedExecutor stepped = ProcessExecutor.builder(1).buildStepped();
    private final StressProcess process =
            new StressProcess(ProcessOptions.named("p").suspended(1));

    /** For jcstress. */
    public SuspendedIsCancelledOrWoken() {
        process.result = DrainResult.COMPLETED;
        stepped.executor().submit(process);
    }

    /** The last event. */
    @Actor
    public void signaller() {
        process.wake();
    }

    /** The end. */
    @Actor
    public void canceller() {
        process.cancel();
    }

    /** How often each hook was called. */
    @Arbiter
    public void outcome(II_Result r) {
        stepped.runUntilAsleep();
        r.r1 = process.completions;
        r.r2 = process.releases;
    }
}
