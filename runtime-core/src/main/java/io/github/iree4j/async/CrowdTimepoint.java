package io.github.iree4j.async;

import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A timepoint of a kind of which a thousand may wait for one value, such as operations behind a gate. When many become due at once they are
 * called on another thread, so that the thread that signals is not held up. The contract of {@link Timepoint} holds otherwise.
 */
public interface CrowdTimepoint extends Timepoint {

    /**
     * Returns where this is called when it is one of many.
     *
     * @return runs what it is given in that order; null to be called on the thread that signals in any case
     */
    @Nullable
    Executor crowdExecutor();
}
