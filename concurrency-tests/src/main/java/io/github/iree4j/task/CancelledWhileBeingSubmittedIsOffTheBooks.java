package io.github.iree4j.task;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Claim: a suspended process, cancelled while being submitted, ends once, and the executor does not count the process
 * as live afterwards.
 *
 * <p>TASK-16: the submitter lists the process and then checks for a release; the canceller releases the process and
 * then checks for an executor.
 */
@JCStressTest
@Outcome(id = "1, 1, 0", expect = Expect.ACCEPTABLE, desc = "completed, released, and not live")
@Outcome(expect = Expect.FORBIDDEN, desc = "ended otherwise, or live forever: the executor could not be closed")
@State
public class CancelledWhileBeingSubmittedIsOffTheBooks {
    private final SteppedExecutor stepped = ProcessExecutor.builder(1).buildStepped();
    private final StressProcess process =
            new StressProcess(ProcessOptions.named("p").suspended(1));

    /** For jcstress. */
    public CancelledWhileBeingSubmittedIsOffTheBooks() {}

    /** Submits. */
    @Actor
    public void submitter() {
        stepped.executor().submit(process);
    }

    /** Cancels. */
    @Actor
    public void canceller() {
        process.cancel();
    }

    /** How often each hook was called, and how many processes are live. */
    @Arbiter
    public void outcome(III_Result r) {
        stepped.runUntilAsleep();
        r.r1 = process.completions;
        r.r2 = process.releases;
        r.r3 = (int) stepped.executor().liveProcesses();
    }
}
