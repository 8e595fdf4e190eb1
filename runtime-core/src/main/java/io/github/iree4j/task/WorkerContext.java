package io.github.iree4j.task;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Who drains: a worker, or a caller that drains by itself. Belongs to the thread that is in the drain; not to be kept.
 *
 * <p>Indices are dense: workers are 0 to n − 1, callers follow. So arrays of {@link ProcessExecutor#contexts()} elements have a place for each.
 */
public final class WorkerContext {
    private static final long[] NO_STATE = {};

    private final int index;
    private final boolean caller;
    private final ProcessExecutor executor;
    private @Nullable Object attachment; // of the thread that drains
    private long[] state = NO_STATE; // of the process being drained

    @Nullable
    TaskProcess owesWakeFor; // for which one worker less was woken, because this one is about to look

    WorkerContext(ProcessExecutor executor, int index, boolean caller) {
        this.executor = executor;
        this.index = index;
        this.caller = caller;
    }

    /**
     * Returns the place of this drainer among all of the executor.
     *
     * @return 0 to {@link ProcessExecutor#contexts()} − 1
     */
    public int index() {
        return index;
    }

    /**
     * Returns whether this is a caller's thread and not a worker.
     *
     * @return true for {@link ProcessExecutor#tryDrainInline}
     */
    public boolean isCaller() {
        return caller;
    }

    /**
     * Returns the executor.
     *
     * @return the executor this drainer belongs to
     */
    public ProcessExecutor executor() {
        return executor;
    }

    /**
     * Returns the words that this drainer keeps for the process being drained; zero before the first drain of the process's life, then as
     * the last drain with this index left them. Nobody else reads or writes them.
     *
     * @return at least {@link ProcessOptions#workerStateWords()} words
     */
    public long[] state() {
        return state;
    }

    /**
     * Returns what {@link #attach} gave.
     *
     * @return the attachment, or null
     */
    public @Nullable Object attachment() {
        return attachment;
    }

    /**
     * Keeps something for the drains of this thread, for example its local memory. Meant for {@link WorkerSetup#begin}.
     *
     * @param value what to keep
     */
    public void attach(Object value) {
        attachment = Objects.requireNonNull(value, "value");
    }

    void enter(TaskProcess process) {
        state = process.workerState(index);
    }

    @Override
    public String toString() {
        return (caller ? "caller " : "worker ") + index;
    }
}
