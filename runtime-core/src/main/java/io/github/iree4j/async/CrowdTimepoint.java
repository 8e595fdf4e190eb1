package io.github.iree4j.async;

import io.github.iree4j.api.NotForApplications;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A timepoint of a kind that may wait in thousands for the same value, such as operations behind a gate. When many
 * become due at once, another thread calls these timepoints, so the signalling thread is not delayed. The contract of
 * {@link Timepoint} holds otherwise.
 */
@NotForApplications
public interface CrowdTimepoint extends Timepoint {

    /**
     * Returns the executor calling this timepoint when many are due.
     *
     * @return an executor running actions in FIFO order; null to be called on the signalling thread in any case
     */
    @Nullable
    Executor crowdExecutor();
}
