package io.github.iree4j.task;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Claim: a worker entering a process already asleep, and leaving when the process is in a slot again, neither drains
 * the process nor puts it to sleep.
 *
 * <p>TASK-6: entering adds to the word and checks the previous value; only a drainer having entered an open process
 * decides.
 */
@JCStressTest
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "found in the slot and drained after the work was added")
@Outcome(id = "1, 0", expect = Expect.FORBIDDEN, desc = "it sleeps undrained")
@Outcome(id = "0, 0", expect = Expect.FORBIDDEN, desc = "it sleeps undrained")
@State
public class StaleLeaverDecidesNothing {
    private final SteppedExecutor stepped = ProcessExecutor.builder(1).buildStepped();
    private final StressProcess process = StressProcess.slotted();

    /** For jcstress. */
    public StaleLeaverDecidesNothing() {
        stepped.executor().submit(process);
        stepped.step(0);
    }

    /** Assumes, from an earlier scan, a process in a slot; the process sleeps, or is in a slot again. */
    @Actor
    public void lateWorker() {
        long entered = process.enter();
        if (ProcessSchedule.mayDrain(entered)) {
            process.drained = process.work;
            process.leave(true);
        } else {
            process.leave(true);
        }
    }

    /** Puts the process into a slot again. */
    @Actor
    public void signaller() {
        process.work = 1;
        process.schedule();
    }

    /** Whether the process can still be found, and the work is seen. */
    @Arbiter
    public void outcome(II_Result r) {
        r.r1 = ProcessSchedule.place(process.wordVolatile()) == ProcessSchedule.SLOTTED ? 1 : 0;
        stepped.runUntilAsleep();
        r.r2 = process.drained;
    }
}
