package io.github.iree4j.task;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Claim: of two events, the last makes the process runnable, and the thread of the last event sees the other's writes.
 *
 * <p>TASK-1: each event is a single atomic decrement of the count.
 */
@JCStressTest
@Outcome(id = "1, 2", expect = Expect.ACCEPTABLE, desc = "activated once, and the drain sees both")
@Outcome(expect = Expect.FORBIDDEN, desc = "activated twice or never, or a write is missing")
@State
public class LastEventActivatesOnce {
    private final SteppedExecutor stepped = ProcessExecutor.builder(1).buildStepped();
    private final Summing process = new Summing();
    private int activations;
    private int one;
    private int other;

    private final class Summing extends TaskProcess {
        int sum;

        Summing() {
            super(ProcessOptions.named("p").suspended(2));
        }

        @Override
        protected DrainResult drain(WorkerContext worker) {
            sum = one + other;
            return DrainResult.IDLE;
        }
    }

    /** For jcstress. */
    public LastEventActivatesOnce() {
        stepped.executor().submit(process);
    }

    /** An event. */
    @Actor
    public void first() {
        one = 1;
        if (process.wake()) {
            activations++;
        }
    }

    /** The other. */
    @Actor
    public void second() {
        other = 1;
        if (process.wake()) {
            activations++;
        }
    }

    /** The writes seen by the drain. */
    @Arbiter
    public void outcome(II_Result r) {
        stepped.runUntilAsleep();
        r.r1 = activations;
        r.r2 = process.sum;
    }
}
