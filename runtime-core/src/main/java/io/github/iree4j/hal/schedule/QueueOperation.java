package io.github.iree4j.hal.schedule;

import io.github.iree4j.async.Fence;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.MutableFrontier;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.status.IreeException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One operation of a queue, created by a backend and ordered by its {@link QueueScheduler}. Submitted once.
 *
 * <p>{@link #retain} is called before the operation outlives its submission, {@link #release} when it is complete; neither is
 * called for an operation that need not wait on a backend that completes inline.
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

    /** The name of an operation that the host ends, see {@link io.github.iree4j.hal.DeferredHostCall}. */
    public static final String DEFERRED_HOST_CALL = "deferred host call";

    private final String name;

    /*
     * The rest is the scheduler's. Written by the submitting thread before the operation is issued or held back; then by the
     * resuming thread, of which there is one at a time (Deferral); once issued, under the lock of a FIFO queue, or on an
     * unordered queue by the completing thread.
     */
    @Nullable
    Fence wait;

    @Nullable
    Fence signal;

    /** On an unordered queue the frontiers imported by the waits, null when all that has completed. */
    @Nullable
    MutableFrontier imported;

    /** The call that submitted it, if any; known once it is retained. */
    @Nullable
    MemoryHolder holder;

    /** The operation that it is a part of, if any. */
    @Nullable
    OperationParts whole;

    /** What its end waits for when its queue is done with it: for deferred host calls. */
    @Nullable
    CallCompletion completion;

    /** Whether the decisions about its waits are counted. */
    boolean counted;

    /** Non-null while the operation is held back. */
    volatile @Nullable Deferral deferral;

    /** The thread that is submitting it: that thread throws a failure that no fence carries. */
    @Nullable
    Thread submitter;

    /** The failure that the submitting thread throws. */
    @Nullable
    IreeException thrown;

    boolean retained;

    /** Whether the backend has it, or had it, after the call that issued it returned. */
    boolean handedOver;

    /** The premises that replace its waits; null for none, and once its waits are known to be resolved. On streams only. */
    @Nullable
    List<Premise> premises;

    // Its place among the operations that are issued, guarded by that list.
    @Nullable
    QueueOperation previousIssued;

    @Nullable
    QueueOperation nextIssued;

    /** Whether it is listed as issued; also read by the thread that ends it, without the lock of the list. */
    boolean listedAsIssued;

    /** When it was issued, in nanoseconds; known while it is listed. */
    long issuedAt;

    /** Given by the observer; 0 while there is none. */
    long number;

    /** Whether {@link QueueScheduler#cancel} was called. */
    volatile boolean cancelled;

    /** Whether the hardware has completed it. */
    boolean completed;

    /** The first failure; also written by {@link QueueScheduler#cancel}. */
    private volatile @Nullable IreeException failure;

    @SuppressWarnings("UnusedVariable") // through FRONTIER
    private @Nullable Frontier frontier; // null before it has an epoch

    /**
     * Makes an operation.
     *
     * @param name the name in messages, for example {@code fill}
     */
    protected QueueOperation(String name) {
        this.name = name;
    }

    /**
     * Names the operation in messages.
     *
     * @return for example {@code fill}, or {@code deferred host call}
     */
    public final String name() {
        return completion == null ? name : DEFERRED_HOST_CALL;
    }

    /**
     * Returns the frontier of everything that happens before the end of this operation.
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
     * Returns the number that the observer of the domain has given it.
     *
     * @return the number; 0 when it was submitted while nothing observed the domain
     */
    public final long number() {
        return number;
    }

    /**
     * Returns the failure, once known.
     *
     * @return the first failure, or null
     */
    public final @Nullable IreeException failure() {
        return failure;
    }

    /**
     * Returns whether the calling thread is submitting this operation, as opposed to resuming it by a signal.
     *
     * @return true inside the queue's method that created it
     */
    protected final boolean isBeingSubmitted() {
        return Thread.currentThread().equals(submitter);
    }

    /**
     * Returns the call that it belongs to. For the executing thread.
     *
     * @return the call; null for none
     */
    protected final @Nullable MemoryHolder holder() {
        return retained ? holder : MemoryHolder.current(); // else it is executed by the thread that submits it
    }

    /**
     * Returns why the work should stop: the operation was cancelled, or all timelines that it is to signal have failed, so that
     * its end is unobservable.
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

    /**
     * Waits until the host knows how every wait has ended, for a backend that is about to run code of others: the hardware passes a wait
     * whether its producer has succeeded or failed. Not ended by an interrupt, which is kept. For a thread that the backend has given the
     * operation to, once the hardware is past its waits; without a lock.
     *
     * @return as {@link #failedWait}
     */
    public final @Nullable IreeException awaitWaits() {
        boolean interrupted = false;
        for (int open; failedWait() == null && (open = openWait()) >= 0; ) {
            Fence waits = Objects.requireNonNull(wait);
            try {
                waits.semaphore(open).await(waits.value(open));
            } catch (IreeException e) {
                interrupted |= Thread.interrupted(); // else it has failed, as is seen next
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return failedWait();
    }

    /**
     * SCHED-7: returns why an operation that runs code of others must do nothing, where the backend relied on premises in place of its waits.
     *
     * @return the failure of a wait, as far as the host knows; null when it knows of none
     */
    public final @Nullable IreeException failedWait() {
        Fence waits = premises == null ? null : wait;
        for (int i = 0; waits != null && i < waits.size(); i++) {
            IreeException cause = waits.semaphore(i).failure(); // before the value: reached and failed later is reached
            if (cause != null && waits.semaphore(i).value() < waits.value(i)) {
                return cause;
            }
        }
        return null;
    }

    /** Returns the last of its waits that is not known to be reached; negative when all are, and where there are no premises. */
    final int openWait() {
        Fence waits = premises == null ? null : wait;
        int open = waits == null ? -1 : waits.size() - 1;
        while (open >= 0 && Objects.requireNonNull(waits).semaphore(open).value() >= waits.value(open)) {
            open--;
        }
        return open;
    }

    /** Records a failure; the first one stays. */
    final void fail(IreeException cause) {
        FAILURE.compareAndSet(this, null, cause);
    }

    /**
     * Fails the signals of an operation that is not complete: its device is abandoned, and waiters must not be. The operation
     * keeps its resources until its end is reported. The caller knows that it has not been.
     *
     * @param cause the cause
     */
    public final void failSignals(IreeException cause) {
        fail(cause);
        Fence signalled = signal;
        if (signalled != null) {
            signalled.fail(cause);
        }
    }

    /**
     * Records the failure of a wait that was elided: it is the root cause, even if the operation ran and failed too, since it may
     * have failed for lack of its input. A cancelled operation keeps the cause of its cancellation.
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
     * The operation has its place in the order of a stream, and its {@link #frontier}: acts on that, for example by releasing
     * storage to operations behind it. Called once before the issue, with a lock of the scheduler held: MUST be quick. Not called
     * on an unordered queue.
     *
     * @throws IreeException if it fails; it keeps its place, and is issued as a failed operation
     */
    protected void placed() {}

    /**
     * The operation has failed, or will not run. Called once, before its signals fail.
     *
     * @param cause the cause
     */
    protected void failed(IreeException cause) {}

    /**
     * Returns whether it may wait for work of other queues while it runs, as code of others does. Hardware waits for nothing that comes after
     * such an operation before it is over: a queue that stood still would hold back what the operation waits for.
     *
     * @return always the same
     */
    protected boolean mayWait() {
        return false;
    }

    /**
     * Copies what the caller may change after the submission, and retains what the operation uses.
     *
     * @throws IreeException FAILED_PRECONDITION when something it uses is closed
     */
    protected abstract void retain();

    /** Undoes {@link #retain}. */
    protected abstract void release();
}
