package io.github.iree4j.async;

import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A timepoint of a kind of which thousands may wait for one value, such as operations behind a gate. When many become due at once they are
 * called on another thread, so that they do not delay the signalling thread. The contract of {@link Timepoint} holds otherwise.
 */
public interface CrowdTimepoint extends Timepoint {

    /**
     * Returns the executor that calls this when it is one of many.
     *
     * @return an executor that runs actions in FIFO order; null to be called on the signalling thread in any case
     */
    @Nullable
    Executor crowdExecutor();
}
