package io.github.iree4j.task;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Claim: of two drainers finding the process over, one completes the process, and one releases the process after both
 * have left.
 *
 * <p>TASK-3, TASK-8, TASK-9: the bit TERMINAL has one setter; the last leaver sets RELEASED.
 */
@JCStressTest
@Outcome(id = "1, 1, 0", expect = Expect.ACCEPTABLE, desc = "completed once, released once, out of the slot")
@Outcome(expect = Expect.FORBIDDEN, desc = "completed or released otherwise")
@State
public class LastDrainerReleasesOnce {
    private final SteppedExecutor stepped = ProcessExecutor.builder(2).buildStepped();
    private final StressProcess process = StressProcess.slotted();
    private final WorkerContext first = stepped.executor().worker(0).context;
    private final WorkerContext second = stepped.executor().worker(1).context;

    /** For jcstress. */
    public LastDrainerReleasesOnce() {
        process.result = DrainResult.COMPLETED;
        stepped.executor().submit(process);
    }

    /** Drains. */
    @Actor
    public void one() {
        Drains.drainShared(stepped.executor(), process, first);
    }

    /** Drains too. */
    @Actor
    public void other() {
        Drains.drainShared(stepped.executor(), process, second);
    }

    /** How often each hook was called, and whether the slot is still taken. */
    @Arbiter
    public void outcome(III_Result r) {
        r.r1 = process.completions;
        r.r2 = process.releases;
        r.r3 = (int) stepped.executor().slots().takenVolatile();
    }
}
