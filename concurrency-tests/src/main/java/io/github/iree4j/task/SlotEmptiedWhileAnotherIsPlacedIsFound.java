package io.github.iree4j.task;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Claim: a process placed while a slot is being emptied is found in the same or another slot, and not erased with the
 * leaver.
 *
 * <p>TASK-10, TASK-13: a slot belongs to the thread having set the bit until the same thread clears the bit, as the
 * last step.
 */
@JCStressTest
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "the other was drained and nothing is left")
@Outcome(expect = Expect.FORBIDDEN, desc = "the other was lost")
@State
public class SlotEmptiedWhileAnotherIsPlacedIsFound {
    private final SteppedExecutor stepped =
            ProcessExecutor.builder(1).computeSlots(1).buildStepped();
    private final StressProcess leaving = StressProcess.slotted();
    private final StressProcess coming = StressProcess.slotted();

    /** For jcstress. */
    public SlotEmptiedWhileAnotherIsPlacedIsFound() {
        stepped.executor().submit(leaving);
    }

    /** Drains the process in the slot, which then sleeps and leaves the slot. */
    @Actor
    public void worker() {
        stepped.step(0);
    }

    /** Schedules another. */
    @Actor
    public void signaller() {
        stepped.executor().submit(coming);
    }

    /** Whether the other was drained once all is quiet. */
    @Arbiter
    public void outcome(II_Result r) {
        stepped.runUntilAsleep();
        r.r1 = coming.drains;
        r.r2 = leaving.drains;
    }
}
