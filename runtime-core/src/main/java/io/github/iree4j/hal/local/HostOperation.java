package io.github.iree4j.hal.local;

import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.status.FileFault;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An operation that the host executes. Its buffers are pinned while it runs; if it has to wait, what it uses is retained.
 */
public abstract class HostOperation extends QueueOperation {
    /** An unknown duration. */
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

    /** As {@link #run()}, for a thread that has a command runner. */
    void run(CommandRunner runner) {
        run();
    }

    /** Returns what {@link #run()} is likely to take, in nanoseconds, estimated from the work; or {@link #UNKNOWN}. */
    abstract long nanos();

    /** Whether it may block: on files, or because it is user code. Such work never runs on a worker, which others depend on. */
    boolean mayBlock() {
        return false;
    }

    /** Whether it does something outside of the device: calls code of others, or reads or writes a file. */
    boolean reachesOut() {
        return mayBlock();
    }

    /**
     * Starts it asynchronously; for work that completes without a waiting thread.
     *
     * @param over notified once when it is complete, with the result of execute(); by any thread, possibly before this returns
     * @return false when it must be executed instead; then nothing was started
     */
    boolean start(Consumer<@Nullable IreeException> over) {
        return false;
    }

    /** Returns why the rest of it must not run, or null. */
    final @Nullable IreeException stopped() {
        return stopCause();
    }

    /** Whether the calling thread is submitting it. */
    final boolean isSubmittedHere() {
        return isBeingSubmitted();
    }

    /** The call that it belongs to, if the calling thread has made that call and executes its operations; else null. */
    final @Nullable MemoryHolder callMadeHere() {
        MemoryHolder call = holder();
        return call != null && call.isWorkedOnHere() ? call : null;
    }

    /** The call that it belongs to, or null. */
    final @Nullable MemoryHolder call() {
        return holder();
    }

    /**
     * Does the work. Called once, when the operation is due, on a thread that may be occupied for long.
     *
     * @return the failure, also for whatever the work throws; or null
     */
    public final @Nullable IreeException execute() {
        try {
            IreeException cause = reachesOut() ? failedWait() : null; // SCHED-7: on a stream of virtual hardware
            if (cause == null) {
                run();
            }
            return cause;
        } catch (Throwable t) {
            return failure(name(), t);
        }
    }

    /** As {@link #execute()}, for a thread that has a command runner. */
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
            case InternalError e -> FileFault.of(name, e);
            default -> new IreeException(StatusCode.INTERNAL, name + " failed: " + thrown, thrown);
        };
    }
}
