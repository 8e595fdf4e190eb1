package io.github.iree4j.call;

import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.lifetime.UseGuard;
import io.github.iree4j.monitor.PendingCall;
import io.github.iree4j.monitor.TurnStatistics;
import io.github.iree4j.status.FailureDetail;
import io.github.iree4j.status.FilesInPlace;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.task.ProcessExecutor;
import io.github.iree4j.task.ProcessOptions;
import io.github.iree4j.tensor.DeviceMemory;
import io.github.iree4j.vm.Context;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The calls of a program: turns, calls in progress, and the end of calls. Safe from any thread. */
public final class ProgramCalls implements SchedulingDomain.Calls {
    final String name;
    final Context context;
    private final DeviceMemory memory;
    final OperationsUnderWay operations; // of the calls
    private final ProcessExecutor executor;
    private final boolean mayBlock;
    final boolean overlaps; // whether another call may run while a call waits
    final FilesInPlace inPlace; // checked before a call begins and before results are given
    private final @Nullable BiConsumer<MemoryHolder, @Nullable MemoryHolder> listener;
    private final UnaryOperator<IreeException> explanation;
    private final Runnable freeing;
    final ProgramLock lock = new ProgramLock();
    final CallsUnderWay underWay = new CallsUnderWay();
    private final LongAdder waited = new LongAdder(); // calls that have waited for their turn
    private final LongAdder waitedNanos = new LongAdder();
    private volatile @Nullable IreeException refusal; // failure of calls once closed; null for the usual failure
    final HeldCalls held; // waiting to be admitted, or about to be made
    private final UseGuard guard;
    private final ProgramEnd end;

    /**
     * Creates the calls of a program with the context as state.
     *
     * @param memory memory of inputs and results
     * @param operations counts the operations submitted by calls
     * @param executor runs the calls
     * @param mayBlock whether the program's code may block, so that calls get their own threads
     * @param overlaps whether another call may run while a call waits
     * @param inPlace the files that the program's code uses in place: a call fails if such a file is changed during the
     *     call
     * @param listener notified of each beginning call, and of the call making this call; or null
     * @param explanation adds a remedy to a failure of the program's code, or returns the failure itself
     * @param freeing runs once, when the program is closed and no call is left
     */
    public ProgramCalls(
            String name,
            Context context,
            DeviceMemory memory,
            OperationsUnderWay operations,
            ProcessExecutor executor,
            boolean mayBlock,
            boolean overlaps,
            FilesInPlace inPlace,
            @Nullable BiConsumer<MemoryHolder, @Nullable MemoryHolder> listener,
            UnaryOperator<IreeException> explanation,
            Runnable freeing) {
        this.name = name;
        this.context = context;
        this.memory = memory;
        this.operations = operations;
        this.executor = executor;
        this.mayBlock = mayBlock;
        this.overlaps = overlaps;
        this.inPlace = inPlace;
        this.listener = listener;
        this.explanation = explanation;
        this.freeing = freeing;
        this.held = new HeldCalls("iree4j-admitted " + name, !overlaps);
        this.guard = new UseGuard(() -> "program '" + name + "'", this::free);
        this.end = new ProgramEnd(this, underWay, operations);
        memory.device().schedulingDomain().add(this); // last: from here on other threads list the calls
    }

    private void free() {
        try {
            freeing.run();
        } finally {
            end.freed();
        }
    }

    /** The memory of inputs and results. */
    public DeviceMemory memory() {
        return memory;
    }

    /** Notifies the listener of a call beginning on this thread. */
    void begins(MemoryHolder holder, @Nullable MemoryHolder outer) {
        if (listener != null) {
            listener.accept(holder, outer);
        }
    }

    // Uses and their end.

    /**
     * Begins a use of the program. The use keeps the program from being freed until {@link #exit}.
     *
     * @throws IreeException when the program is closed: FAILED_PRECONDITION, or as given to {@link #close}
     */
    public void enter() {
        if (!guard.tryEnter()) {
            IreeException why = refusal;
            throw why == null
                    ? IreeException.of(
                            StatusCode.FAILED_PRECONDITION, "program '" + name + "' is closed", null, new Refusal(this))
                    : IreeException.of(why.code(), why.getMessage(), why, new Refusal(this));
        }
    }

    /** Names the program that was closed when a use was to begin. */
    private record Refusal(ProgramCalls program) implements FailureDetail {}

    /** Whether a failure shows that this program was closed when a use was to begin, so that nothing of the use was done. */
    public boolean hasRefused(IreeException failure) {
        Refusal refusal = failure.detail(Refusal.class).orElse(null);
        return refusal != null && refusal.program == this;
    }

    /** Ends a use. */
    public void exit() {
        guard.exit();
        end.changed();
    }

    /** Number of uses. */
    public int active() {
        return guard.uses();
    }

    /** Refuses further calls, with the first caller's failure, or with FAILED_PRECONDITION; true for the first caller. */
    public boolean close(@Nullable IreeException why) {
        if (!guard.isClosed()) {
            refusal = why;
        }
        return guard.close();
    }

    public boolean isClosed() {
        return guard.isClosed();
    }

    /** Cancels calls in progress. Called after {@link #close}. */
    public void giveUp() {
        end.giveUp();
    }

    /** Waits for the end of calls, at most for the given nanoseconds, if the calling thread may wait. */
    public void awaitEnd(long nanos) {
        end.await(nanos);
    }

    /** The reason for which calls must not continue; null while calls may continue. */
    @Nullable
    IreeException givenUp() {
        return end.cause();
    }

    /** A failure of the program's code, with a remedy if there is one. */
    IreeException explained(IreeException failure) {
        return explanation.apply(failure);
    }

    /** The reason for which a call waiting to be admitted must not continue. */
    IreeException cancelled(String function) {
        IreeException cause = givenUp();
        return IreeException.of(
                StatusCode.CANCELLED,
                "call of '%s' was cancelled%s".formatted(function, cause == null ? "" : ": " + cause.getMessage()),
                cause);
    }

    // Calls in progress.

    /** The waits of calls for their turn. */
    public TurnStatistics turns() {
        return new TurnStatistics(underWay.inLine(), waited.sum(), Duration.ofNanos(waitedNanos.sum()));
    }

    /** Records that a call has got its turn after waiting in line since the given moment. */
    void leftLine(long since) {
        waited.increment();
        waitedNanos.add(System.nanoTime() - since);
    }

    /** Describes the state of calls, up to a limit, in order of arrival. */
    public List<PendingCall> describe(int limit) {
        return underWay.describe(limit);
    }

    @Override
    public void forEachOpen(SchedulingDomain.CallVisitor visitor) {
        for (PendingCall each : describe(Integer.MAX_VALUE)) {
            visitor.open(
                    name, each.function(), each.id(), each.state().name(), each.since(), each.waits(), each.signals());
        }
    }

    /**
     * Ends a call soon, with CANCELLED.
     *
     * @param number the number in the call's description
     * @param how ends the text of the failure, after "was cancelled"
     * @return false when no such call is in progress, or nothing is left to cancel
     */
    public boolean cancel(long number, String how) {
        Call call = underWay.find(number);
        return call != null
                && call.cancelAlone(IreeException.of(
                        StatusCode.CANCELLED,
                        "call %d of '%s' was cancelled%s".formatted(number, call.holder.name(), how)));
    }

    /** Makes a call that begins to wait visible to diagnostics and to the closing thread, until the call is taken off the list. */
    void track(Call call) {
        call.startClock();
        underWay.add(call);
        end.giveUpIfClosed(call);
    }

    /** Records that a tracked call has returned, and only waits for its fence. */
    void linger(Call call) {
        underWay.linger(call);
        end.giveUpIfClosed(call);
        end.changed();
    }

    // Turns.

    /**
     * Returns the call that keeps another from beginning: the call in turn, or the first held call.
     *
     * @param outer the call that makes the other; null for none
     * @return null for none
     */
    @Nullable
    MemoryHolder keepingBack(@Nullable MemoryHolder outer) {
        Call call = underWay.inTurn();
        return call != null ? call.holder : held.first(outer);
    }

    /**
     * Whether the thread of a call executes operations of the call. False if foreign code may make the thread wait for
     * the operations without executing them.
     */
    boolean worksOnCaller() {
        return !mayBlock;
    }

    /** Whether the calling thread is a worker, and therefore must not wait. */
    boolean isWorker() {
        return executor.isWorkerThread();
    }

    /**
     * Checks that the current thread may wait for a call of a function to end.
     *
     * @throws IreeException FAILED_PRECONDITION on a thread that the call would wait for
     */
    void checkMayWait(String function) {
        if (executor.isWorkerThread()) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "'%s' was called by a worker, which must not wait; use invokeAsync or submit".formatted(function));
        }
        if (lock.isRunBySelf()) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "'%s' was called from within a call of the same program; load the program twice"
                            .formatted(function));
        }
    }

    /**
     * Starts a call running in steps.
     *
     * @param atEnd runs after the call, on a thread where arbitrary code may run
     * @param onWorker runs instead of {@code atEnd} after a call that has ended on a worker: must not block or run
     *     foreign code
     */
    void start(AsyncCall call, Runnable atEnd, Runnable onWorker) {
        ProcessOptions options = call.call().function.processOptions();
        if (mayBlock) {
            CallThread thread = new CallThread(call, options.name(), atEnd);
            call.start(thread::wake);
        } else {
            CoroutineProcess.start(executor, call, options, onWorker);
        }
    }

    @Override
    public String toString() {
        return "program '" + name + "'" + (isClosed() ? " (closed)" : "");
    }
}
