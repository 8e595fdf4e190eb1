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
 * An operation of a queue, created by a backend and ordered by a {@link QueueScheduler}. Submitted once.
 *
 * <p>{@link #retain} is called before the operation outlives the submission, {@link #release} on completion. Neither is
 * called for an operation without waits on a backend that completes inline.
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

    // The names of the operations that commands become, also in recordings, which have no other word for the kind.
    public static final String ALLOCA = "alloca";
    public static final String BARRIER = "barrier";
    public static final String COPY = "copy";
    public static final String DEALLOCA = "dealloca";
    public static final String DISPATCH = "dispatch";
    public static final String EXECUTE = "execute";
    public static final String FILL = "fill";
    public static final String HOST_CALL = "host call";
    public static final String READ = "read";
    public static final String UPDATE = "update";
    public static final String WRITE = "write";

    /** Name of operations ended by the host, see {@link io.github.iree4j.hal.DeferredHostCall}. */
    public static final String DEFERRED_HOST_CALL = "deferred host call";

    private final String name;

    /*
     * The remaining fields belong to the scheduler. Written by the submitting thread before the operation is issued or
     * held back; then by the resuming thread, a single thread at a time (Deferral); once issued, under the lock of a
     * FIFO queue, or on an unordered queue by the completing thread.
     */
    @Nullable
    Fence wait;

    @Nullable
    Fence signal;

    /** Frontiers imported by the waits, on an unordered queue; null when everything imported has completed. */
    @Nullable
    MutableFrontier imported;

    /** The submitting call, if any; known once the operation is retained. */
    @Nullable
    MemoryHolder holder;

    /** The whole operation, for a part. */
    @Nullable
    OperationParts whole;

    /** The host's part in the end of the operation, for deferred host calls. */
    @Nullable
    CallCompletion completion;

    /** Whether the decisions about the waits are counted. */
    boolean counted;

    /** Non-null while the operation is held back. */
    volatile @Nullable Deferral deferral;

    /** The thread that is submitting the operation; this thread throws a failure that no fence carries. */
    @Nullable
    Thread submitter;

    /** The failure that the submitting thread throws. */
    @Nullable
    IreeException thrown;

    boolean retained;

    /** Whether the operation is, or was, counted as in flight: not if executed by the submitting thread. On unordered queues only. */
    boolean isInFlight;

    /** The premises replacing the waits; null for none, and once the waits are known to be resolved. On streams only. */
    @Nullable
    List<Premise> premises;

    // Links in the list of issued operations, guarded by this list.
    @Nullable
    QueueOperation previousIssued;

    @Nullable
    QueueOperation nextIssued;

    /** Whether the operation is listed as issued; also read by the ending thread, without the lock of the list. */
    boolean listedAsIssued;

    /** Time of the issue, in nanoseconds; known while the operation is listed. */
    long issuedAt;

    /** Number given by the observer; 0 without an observer. */
    long number;

    /** Whether the submission was reported, or is reported to nobody. */
    boolean reported;

    private long observedAt;

    private @Nullable DispatchObserver dispatchObserver;

    /** Whether the operation signals its fence, or has. Other threads may see this late. */
    boolean ending;

    /** Whether {@link QueueScheduler#cancel} was called. */
    volatile boolean cancelled;

    /** Whether the hardware has completed the operation. */
    boolean completed;

    /** The first failure; also written by {@link QueueScheduler#cancel}. */
    private volatile @Nullable IreeException failure;

    @SuppressWarnings("UnusedVariable") // through FRONTIER
    private @Nullable Frontier frontier; // null before the epoch is known

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
     * Keeps the time of the submission for the observer. Called within {@link QueueObserver#submitted}.
     *
     * @param time by the clock of the observer
     */
    public final void observedAt(long time) {
        observedAt = time;
    }

    /**
     * Returns the time of the submission.
     *
     * @return the time given by the observer; 0 for none
     */
    public final long observedAt() {
        return observedAt;
    }

    /**
     * Has the backend report when the dispatches of this operation begin and end. Called within {@link
     * QueueObserver#submitted}: the decision holds for all dispatches of the operation.
     *
     * @param observer receives the reports, also after the end of the observation
     */
    public final void observeDispatches(DispatchObserver observer) {
        dispatchObserver = observer;
    }

    /**
     * Returns the receiver of reports about dispatches, for a backend that knows when dispatches begin and end.
     *
     * @return the observer; null for none
     */
    protected final @Nullable DispatchObserver dispatchObserver() {
        return dispatchObserver;
    }

    /**
     * Returns the frontier of everything that happens before the end of this operation.
     *
     * @return the frontier, with this operation's entry as the producer's; empty before the epoch is known
     */
    public final Frontier frontier() {
        Frontier own = (Frontier) FRONTIER.getAcquire(this);
        return own == null ? Frontier.EMPTY : own;
    }

    /**
     * Returns the position on the axis of the queue.
     *
     * @return the epoch; 0 before the epoch is known
     */
    public final long epoch() {
        return frontier().producerEpoch();
    }

    /**
     * Returns the number given by the observer of the domain.
     *
     * @return the number; 0 for a submission without an observer
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
     * Returns the call owning this operation. For the executing thread.
     *
     * @return the call; null for none
     */
    protected final @Nullable MemoryHolder holder() {
        return retained ? holder : MemoryHolder.current(); // otherwise the submitting thread executes
    }

    /**
     * Returns the reason for stopping the work: the operation was cancelled, or all timelines to be signalled have
     * failed, so the end of the operation is unobservable.
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
     * Waits until the host knows the outcome of every wait, for a backend about to run foreign code: the hardware
     * passes a wait whether the producer has succeeded or failed. Not ended by an interrupt; the interrupt is kept. For
     * a thread given the operation by the backend after the hardware has passed the waits; called without a lock.
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
                interrupted |= Thread.interrupted(); // otherwise the wait has failed, as seen next
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return failedWait();
    }

    /**
     * SCHED-7: returns the reason why an operation running foreign code must do nothing, where the backend relied on
     * premises in place of waits.
     *
     * @return the failure of a wait, as far as the host knows; null without a known failure
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

    /** Returns the index of the last wait not known to be reached; negative when all are reached, and without premises. */
    final int openWait() {
        Fence waits = premises == null ? null : wait;
        int open = waits == null ? -1 : waits.size() - 1;
        while (open >= 0 && Objects.requireNonNull(waits).semaphore(open).value() >= waits.value(open)) {
            open--;
        }
        return open;
    }

    /** Records a failure; the first failure stays. */
    final void fail(IreeException cause) {
        FAILURE.compareAndSet(this, null, cause);
    }

    /**
     * Fails the signals of an incomplete operation: the device is abandoned, and waiters must not be. The operation
     * keeps its resources until the end is reported. The caller knows that the end has not been reported.
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
     * Records the failure of an elided wait. This failure is the root cause, even if the operation ran and failed too,
     * since the operation may have failed for lack of input. A cancelled operation keeps the cause of the cancellation.
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
     * Acts on a place in the order of a stream and on the known {@link #frontier}, for example by releasing storage to
     * subsequent operations. Called once before the issue, with a lock of the scheduler held: MUST be quick. Not called
     * on an unordered queue.
     *
     * @throws IreeException on failure; the operation keeps its place, and is issued as a failed operation
     */
    protected void placed() {}

    /**
     * Reports that the operation has failed, or will not run. Called once, before the signals fail.
     *
     * @param cause the cause
     */
    protected void failed(IreeException cause) {}

    /**
     * Returns whether the operation may wait for work of other queues while running, as foreign code does. Before the
     * end of such an operation, hardware waits for nothing behind the operation: a queue standing still would hold back
     * the work awaited by the operation.
     *
     * @return a constant value
     */
    protected boolean mayWait() {
        return false;
    }

    /**
     * Copies values that the caller may change after the submission, and retains resources used by the operation.
     *
     * @throws IreeException FAILED_PRECONDITION when a used resource is closed
     */
    protected abstract void retain();

    /** Undoes {@link #retain}. */
    protected abstract void release();
}
