package io.github.iree4j.task;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Claim: the last event of a process may come during the submission: exactly one of the two threads schedules the
 * process.
 *
 * <p>TASK-16: the submitter lists the process and then checks for runnable; the signalling thread of the event checks
 * afterwards for the listing.
 */
@JCStressTest
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "drained once")
@Outcome(expect = Expect.FORBIDDEN, desc = "lost")
@State
public class EventWhileBeingSubmittedIsNotLost {
    private final SteppedExecutor stepped = ProcessExecutor.builder(1).buildStepped();
    private final StressProcess process =
            new StressProcess(ProcessOptions.named("p").suspended(1));

    /** For jcstress. */
    public EventWhileBeingSubmittedIsNotLost() {
        process.result = DrainResult.COMPLETED;
    }

    /** Submits. */
    @Actor
    public void submitter() {
        stepped.executor().submit(process);
    }

    /** The last event. */
    @Actor
    public void signaller() {
        process.wake();
    }

    /** Number of drains. */
    @Arbiter
    public void outcome(I_Result r) {
        stepped.runUntilAsleep();
        r.r1 = process.drains;
    }
}
