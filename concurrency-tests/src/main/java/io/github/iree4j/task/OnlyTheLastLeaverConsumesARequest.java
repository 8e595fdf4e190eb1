package io.github.iree4j.task;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Claim: a request made while two threads drain is not consumed by the first leaver.
 *
 * <p>TASK-7: only the last to leave clears PENDING, and then the process stays awake.
 */
@JCStressTest
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "awake, to be drained again")
@Outcome(id = "0", expect = Expect.FORBIDDEN, desc = "the request was lost")
@State
public class OnlyTheLastLeaverConsumesARequest {
    private final StressProcess process = StressProcess.slotted();

    /** For jcstress. */
    public OnlyTheLastLeaverConsumesARequest() {
        process.request();
        process.putInSlot(0);
        process.enter();
        process.enter();
        process.request();
    }

    /** Finds nothing. */
    @Actor
    public void one() {
        process.leave(false);
    }

    /** Also finds nothing. */
    @Actor
    public void other() {
        process.leave(false);
    }

    /** Whether the process is still there to be drained. */
    @Arbiter
    public void outcome(I_Result r) {
        r.r1 = ProcessSchedule.place(process.wordVolatile()) == ProcessSchedule.SLOTTED ? 1 : 0;
    }
}
