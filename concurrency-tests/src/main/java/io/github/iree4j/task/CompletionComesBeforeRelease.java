package io.github.iree4j.task;

import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Claim: released() sees the writes of completed(), even on another thread.
 *
 * <p>TASK-9: both drainers leave through the word.
 */
@JCStressTest
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "seen")
@Outcome(id = "0", expect = Expect.FORBIDDEN, desc = "released before completed, or without seeing the completion")
@State
public class CompletionComesBeforeRelease {
    private final SteppedExecutor stepped = ProcessExecutor.builder(2).buildStepped();
    private final Ordered process = new Ordered();

    private static final class Ordered extends TaskProcess {
        int written;
        int seen;

        Ordered() {
            super(ProcessOptions.named("p").placed(Placement.COMPUTE));
        }

        @Override
        protected DrainResult drain(WorkerContext worker) {
            return DrainResult.COMPLETED;
        }

        @Override
        protected void completed(@Nullable IreeException failure) {
            written = 1;
        }

        @Override
        protected void released() {
            seen = written;
        }
    }

    /** For jcstress. */
    public CompletionComesBeforeRelease() {
        stepped.executor().submit(process);
    }

    /** Drains. */
    @Actor
    public void one() {
        Drains.drainShared(stepped.executor(), process, stepped.executor().worker(0).context);
    }

    /** Drains too. */
    @Actor
    public void other() {
        Drains.drainShared(stepped.executor(), process, stepped.executor().worker(1).context);
    }

    /** The writes seen by released(). */
    @Arbiter
    public void outcome(I_Result r) {
        r.r1 = process.seen;
    }
}
