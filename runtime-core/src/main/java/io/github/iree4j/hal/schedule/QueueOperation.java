package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.MutableFrontier;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.status.IreeException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One operation of a queue, as a backend makes it and its {@link QueueScheduler} orders it. Submitted once.
 *
 * <p>{@link #retain} is called before the operation outlives its submission, {@link #release} when it is over; a backend that completes
 * inline gets neither for operations that need not wait.
 */
public abstract class QueueOperation {
    private static final VarHandle FAILURE;
    private static final VarHandle FRONTIER;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            FAILURE = lookup.findVarHandle(QueueOperation.class, "failure", IreeException.class);
            FRONTIER = lookup.findVarHandle(QueueOperation.class, "frontier", Frontier.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final String name;

    /*
     * The rest is the scheduler's. Written by the submitting thread before the operation is issued or held back; then by whoever resumes
     * it, of which there is one at a time (Deferral); once it is issued under the lock of a FIFO queue, or on an unordered one by who
     * completes it.
     */
    @Nullable
    Fence wait;

    @Nullable
    Fence signal;

    /** On an unordered queue what the waits brought, null when all that has completed. */
    @Nullable
    MutableFrontier imported;

    /** The call that submitted it, if one did; known once it is retained. */
    @Nullable
    MemoryHolder holder;

    /** What it is a part of, if so. */
    @Nullable
    OperationParts whole;

    /** Whether the decisions about its waits have been counted. */
    boolean counted;

    /** While something holds it back. */
    volatile @Nullable Deferral deferral;

    /** The thread that is submitting it: it throws a failure that no fence carries. */
    @Nullable
    Thread submitter;

    /** What that thread throws. */
    @Nullable
    IreeException thrown;

    boolean retained;

    /** Whether the backend has it, or had, while the thread that gave it went on. */
    boolean handedOver;

    /** What it rests on instead of waits; null for nothing, and once its waits are known to be resolved. On streams only. */
    @Nullable
    List<Premise> premises;

    /** Whether {@link QueueScheduler#cancel} was called. */
    volatile boolean cancelled;

    /** Whether the hardware is done with it. */
    boolean completed;

    /** Why it failed; also written by {@link QueueScheduler#cancel}. */
    private volatile @Nullable IreeException failure;

    @SuppressWarnings("UnusedVariable") // through FRONTIER
    private @Nullable Frontier frontier; // null before it has an epoch

    /**
     * Makes an operation.
     *
     * @param name what it is called in messages, for example {@code fill}
     */
    protected QueueOperation(String name) {
        this.name = name;
    }

    /**
     * Names the operation in messages.
     *
     * @return for example {@code fill}
     */
    public final String name() {
        return name;
    }

    /**
     * Returns what happens before the end of this operation.
     *
     * @return its frontier, with its own entry as the producer's; empty before it has an epoch
     */
    public final Frontier frontier() {
        Frontier own = (Frontier) FRONTIER.getAcquire(this);
        return own == null ? Frontier.EMPTY : own;
    }

    /**
     * Returns its position on the axis of its queue.
     *
     * @return the epoch; 0 before it has one
     */
    public final long epoch() {
        return frontier().producerEpoch();
    }

    /**
     * Returns why it failed, once that is known.
     *
     * @return the first failure, or null
     */
    public final @Nullable IreeException failure() {
        return failure;
    }

    /**
     * Returns whether the calling thread is submitting this operation, and not resuming it by a signal.
     *
     * @return true in the call of the queue that made it
     */
    protected final boolean isBeingSubmitted() {
        return Thread.currentThread().equals(submitter);
    }

    /**
     * Returns the call that it belongs to. For whoever executes it.
     *
     * @return the call; null for none
     */
    protected final @Nullable MemoryHolder holder() {
        return retained ? holder : MemoryHolder.current(); // else it is executed by the thread that submits it
    }

    /**
     * Returns why the work need not go on: the operation was cancelled, or all timelines that it is to signal have failed, so that nobody
     * can learn of its end.
     *
     * @return the first failure, or null while the work is wanted
     */
    protected final @Nullable IreeException stopCause() {
        IreeException cause = failure;
        Fence signalled = signal;
        if (cause != null || signalled == null) {
            return cause;
        }
        for (int i = 0; i < signalled.size(); i++) {
            IreeException failed = signalled.semaphore(i).failure();
            if (failed == null) {
                return null;
            }
            cause = cause == null ? failed : cause;
        }
        return cause;
    }

    /** Notes why it fails; the first cause stays. */
    final void fail(IreeException cause) {
        FAILURE.compareAndSet(this, null, cause);
    }

    /**
     * Fails what it is to signal although it is not over: its device is given up, and what waits for it shall not. It keeps what it uses
     * until its end is reported. The caller knows that it has not been.
     *
     * @param cause why
     */
    public final void failSignals(IreeException cause) {
        fail(cause);
        Fence signalled = signal;
        if (signalled != null) {
            signalled.fail(cause);
        }
    }

    /**
     * A wait has failed, which the operation did not wait for: that is the root cause, even if the operation ran and failed too, since it
     * may have failed for want of what it did not get. An operation that was cancelled keeps the cause that it was cancelled with.
     */
    final void blame(IreeException cause) {
        if (!cancelled || failure == null) {
            failure = cause;
        }
    }

    final void setFrontierRelease(Frontier own) {
        FRONTIER.setRelease(this, own);
    }

    /**
     * The operation has its place in the order of a stream, and its {@link #frontier}: takes what depends on that, such as storage that
     * others give on behind it. Called once before it is issued, with a lock of the scheduler held: quick. Not called on an unordered
     * queue.
     *
     * @throws IreeException why it fails; it keeps its place, and is issued as one that has failed
     */
    protected void placed() {}

    /**
     * The operation has failed, or will not run. Called once, before its signals fail.
     *
     * @param cause why
     */
    protected void failed(IreeException cause) {}

    /**
     * Copies what the caller may change after the submission, and retains what the operation uses.
     *
     * @throws IreeException FAILED_PRECONDITION when something it uses is closed
     */
    protected abstract void retain();

    /** Undoes {@link #retain}. */
    protected abstract void release();
}
