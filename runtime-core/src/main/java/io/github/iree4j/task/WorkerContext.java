package io.github.iree4j.task;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.Nullable;

/**
 * The drainer: a worker, or a draining caller. Confined to the draining thread; do not retain.
 *
 * <p>Indices are dense: workers are 0 to n - 1, callers follow. An array of {@link ProcessExecutor#contexts()} elements
 * therefore has an element for each context.
 */
@NotForApplications
public final class WorkerContext {
    private final int index;
    private final boolean caller;

    @Nullable
    TaskProcess owesWakeFor; // process with an omitted wake-up, because this worker is about to look for work

    WorkerContext(int index, boolean caller) {
        this.index = index;
        this.caller = caller;
    }

    /**
     * Returns the index of this drainer within its executor.
     *
     * @return 0 to {@link ProcessExecutor#contexts()} - 1
     */
    public int index() {
        return index;
    }

    /**
     * Returns whether a thread other than a worker drains.
     *
     * @return true in {@link ProcessExecutor#tryDrainOnce}
     */
    public boolean isCaller() {
        return caller;
    }

    @Override
    public String toString() {
        return (caller ? "caller " : "worker ") + index;
    }
}
