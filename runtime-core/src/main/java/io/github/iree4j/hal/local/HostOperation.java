package io.github.iree4j.hal.local;

import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.schedule.HostWork;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An operation that the host executes. Buffers it names are pinned while it runs; what it uses is retained when it has to wait, so that
 * it lives until then.
 */
abstract class HostOperation extends QueueOperation implements HostWork {
    /** In place of a duration: nobody knows. */
    static final long UNKNOWN = Long.MAX_VALUE;

    /** The operation behind this one on a {@link ReadyList}, which writes it. */
    @Nullable
    HostOperation next;

    HostOperation(String name) {
        super(name);
    }

    /**
     * Does the work, all of it on this thread.
     *
     * @throws IreeException the failure that the operation's signals get
     */
    abstract void run();

    /** As {@link #run()}, for a thread that has what running commands takes. */
    void run(CommandRunner runner) {
        run();
    }

    /** Returns what {@link #run()} is likely to take, in nanoseconds, judged by what is to be done; or {@link #UNKNOWN}. */
    abstract long nanos();

    /** Whether it may wait: for files, or because it is code of users. Such work is no worker's, which others wait for. */
    boolean mayBlock() {
        return false;
    }

    /**
     * Starts it on behalf of this thread, which goes on; for what others do while nobody waits.
     *
     * @param over told once when it is over, with what execute() would return; by any thread, also before this returns
     * @return false when it has to be executed instead; then nothing was started
     */
    boolean start(Consumer<@Nullable IreeException> over) {
        return false;
    }

    /** Why what is left of it is not to be run, or null. */
    final @Nullable IreeException stopped() {
        return stopCause();
    }

    /** Whether the calling thread is submitting it. */
    final boolean isSubmittedHere() {
        return isBeingSubmitted();
    }

    /** The call that it belongs to, or null. */
    final @Nullable MemoryHolder call() {
        return holder();
    }

    /** Does the work; whatever it throws becomes a failure with a status. */
    @Override
    public final @Nullable IreeException execute() {
        try {
            run();
            return null;
        } catch (Throwable t) {
            return failure(name(), t);
        }
    }

    /** As {@link #execute()}, for a thread that has what running commands takes. */
    final @Nullable IreeException execute(CommandRunner runner) {
        try {
            run(runner);
            return null;
        } catch (Throwable t) {
            return failure(name(), t);
        }
    }

    /** Makes whatever was thrown a failure with a status. */
    static IreeException failure(String name, Throwable thrown) {
        return switch (thrown) {
            case IreeException e -> e;
            case OutOfMemoryError e ->
                new IreeException(
                        StatusCode.RESOURCE_EXHAUSTED, name + " ran out of Java memory: " + e.getMessage(), e);
            default -> new IreeException(StatusCode.INTERNAL, name + " failed: " + thrown, thrown);
        };
    }
}
