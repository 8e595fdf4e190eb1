package io.github.iree4j.task;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Claim: a failure arriving during the completion of the process is the outcome, or is dropped; a dropped failure never
 * appears afterwards.
 *
 * <p>TASK-4: the outcome is decided once, by compare-and-set from null.
 */
@JCStressTest
@Outcome(id = "0, 0, 0", expect = Expect.ACCEPTABLE, desc = "success came first")
@Outcome(id = "1, 1, 1", expect = Expect.ACCEPTABLE, desc = "the failure came first")
@Outcome(expect = Expect.FORBIDDEN, desc = "a failure unseen by the completion, or vice versa")
@State
public class LateFailureIsDropped {
    private final SteppedExecutor stepped = ProcessExecutor.builder(1).buildStepped();
    private final Watched process = new Watched();
    private int accepted;

    private static final class Watched extends TaskProcess {
        int failed;

        Watched() {
            super(ProcessOptions.named("p"));
        }

        @Override
        protected DrainResult drain(WorkerContext worker) {
            return DrainResult.COMPLETED;
        }

        @Override
        protected void completed(@Nullable IreeException failure) {
            failed = failure == null ? 0 : 1;
        }
    }

    /** For jcstress. */
    public LateFailureIsDropped() {
        stepped.executor().submit(process);
    }

    /** Completes the process. */
    @Actor
    public void worker() {
        stepped.step(0);
    }

    /** Fails the process. */
    @Actor
    public void failing() {
        accepted = process.fail(IreeException.of(StatusCode.DATA_LOSS, "late")) ? 1 : 0;
    }

    /** The failure seen by the completion, the result of {@code fail}, and the final outcome. */
    @Arbiter
    public void outcome(III_Result r) {
        stepped.runUntilAsleep();
        r.r1 = process.failed;
        r.r2 = accepted;
        r.r3 = process.failure() == null ? 0 : 1;
    }
}
