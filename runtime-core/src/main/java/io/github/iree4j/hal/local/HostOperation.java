package io.github.iree4j.hal.local;

import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.schedule.DispatchObserver;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.status.FileFault;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An operation executed by the host. The buffers are pinned during execution; if the operation has to wait, its resources are retained. */
public abstract class HostOperation extends QueueOperation {
    /** An unknown duration. */
    static final long UNKNOWN = Long.MAX_VALUE;

    /** The next operation on a {@link ReadyList}, written by this list. */
    @Nullable
    HostOperation next;

    HostOperation(String name) {
        super(name);
    }

    /**
     * Does all of the work on this thread.
     *
     * @throws IreeException the failure for the operation's signals
     */
    abstract void run();

    /** As {@link #run()}, for a thread with a command runner. */
    void run(CommandRunner runner) {
        run();
    }

    /** Returns the likely duration of {@link #run()}, in nanoseconds, estimated from the work; or {@link #UNKNOWN}. */
    abstract long nanos();

    /** Returns whether the operation may block: on files, or in user code. Such work never runs on a worker, because others depend on workers. */
    boolean mayBlock() {
        return false;
    }

    /** Returns whether the operation acts outside of the device: calls foreign code, or reads or writes a file. */
    boolean reachesOut() {
        return mayBlock();
    }

    /**
     * Starts the operation asynchronously; for work that completes without a waiting thread.
     *
     * @param over notified once on completion, with the result of execute(); by any thread, possibly before this method
     *     returns
     * @return false when the operation must be executed instead; then nothing was started
     */
    boolean start(Consumer<@Nullable IreeException> over) {
        return false;
    }

    /** Returns the reason for not running the rest, or null. */
    final @Nullable IreeException stopped() {
        return stopCause();
    }

    /** Returns the receiver of reports about dispatches; null for none. */
    final @Nullable DispatchObserver observerOfDispatches() {
        return dispatchObserver();
    }

    /** Returns whether the calling thread is submitting the operation. */
    final boolean isSubmittedHere() {
        return isBeingSubmitted();
    }

    /** Returns whether the calling thread has made the owning call, and executes the call's operations. */
    final boolean isOfCallMadeHere() {
        MemoryHolder call = holder();
        return call != null && call.isWorkedOnHere();
    }

    /** Returns the owning call, or null. */
    final @Nullable MemoryHolder call() {
        return holder();
    }

    /**
     * Does the work. Called once, when the operation is due, on a thread that may be occupied for long.
     *
     * @return the failure, including anything thrown by the work; or null
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

    /** As {@link #execute()}, for a thread with a command runner. */
    final @Nullable IreeException execute(CommandRunner runner) {
        try {
            run(runner);
            return null;
        } catch (Throwable t) {
            return failure(name(), t);
        }
    }

    /** Converts anything thrown to a failure with a status. */
    static IreeException failure(String name, Throwable thrown) {
        return switch (thrown) {
            case IreeException e -> e;
            case OutOfMemoryError e ->
                IreeException.of(StatusCode.RESOURCE_EXHAUSTED, name + " ran out of Java memory: " + e.getMessage(), e);
            case InternalError e -> FileFault.of(name, e);
            default -> IreeException.of(StatusCode.INTERNAL, name + " failed: " + thrown, thrown);
        };
    }
}
