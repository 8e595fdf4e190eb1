package io.github.iree4j.task;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The drainer: a worker, or a caller that drains. Confined to the draining thread; do not retain.
 *
 * <p>Indices are dense: workers are 0 to n − 1, callers follow. So an array of {@link ProcessExecutor#contexts()} elements has one for
 * each.
 */
public final class WorkerContext {
    private final int index;
    private final boolean caller;
    private final ProcessExecutor executor;
    private @Nullable Object attachment; // confined to the draining thread

    @Nullable
    TaskProcess
            owesWakeFor; // a process for which one worker less was woken, because this one is about to look for work

    WorkerContext(ProcessExecutor executor, int index, boolean caller) {
        this.executor = executor;
        this.index = index;
        this.caller = caller;
    }

    /**
     * Returns the index of this drainer within its executor.
     *
     * @return 0 to {@link ProcessExecutor#contexts()} − 1
     */
    public int index() {
        return index;
    }

    /**
     * Returns whether this is a caller and not a worker.
     *
     * @return true for {@link ProcessExecutor#tryDrainInline}
     */
    public boolean isCaller() {
        return caller;
    }

    /**
     * Returns the executor.
     *
     * @return the executor of this drainer
     */
    public ProcessExecutor executor() {
        return executor;
    }

    /**
     * Returns the object passed to {@link #attach}.
     *
     * @return the attachment, or null
     */
    public @Nullable Object attachment() {
        return attachment;
    }

    /**
     * Attaches an object for the drains of this thread, for example its local memory. Meant for {@link WorkerSetup#begin}.
     *
     * @param value the object
     */
    public void attach(Object value) {
        attachment = Objects.requireNonNull(value, "value");
    }

    @Override
    public String toString() {
        return (caller ? "caller " : "worker ") + index;
    }
}
