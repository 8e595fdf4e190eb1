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
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The calls of a program: turns, calls in progress, in order of arrival, and the end of calls. A call running on the
 * thread that made the call is in no list, since a list would cost each call a lock. Safe from any thread.
 */
public final class ProgramCalls implements SchedulingDomain.Calls {
    /*
     * CALL-2: under the monitor each call in progress is in the list, or else in turn. A call enters the list before the
     * call leaves the turn, and takes the turn before the call leaves the list.
     */

    final String name;
    final Context context;
    private final DeviceMemory memory;
    final OperationsUnderWay operations; // of the calls
    final ProcessExecutor executor;
    private final boolean mayBlock;
    final boolean overlaps; // whether another call may run while a call waits
    final FilesInPlace inPlace; // checked before a call begins and before results are given
    private final @Nullable BiConsumer<MemoryHolder, @Nullable MemoryHolder> listener;
    final UnaryOperator<IreeException> explanation; // adds a remedy to a failure of the code, if there is one
    private final Runnable freeing;
    final ProgramLock lock = new ProgramLock();
    /** The call in turn; written in turn. In release mode: late readers re-read the field. */
    private final AtomicReference<@Nullable Call> inTurn = new AtomicReference<>();

    private final Set<Call> listed = new LinkedHashSet<>(); // guarded by this
    private int lingering;
    private final LongAdder waited = new LongAdder(); // calls that have waited for their turn
    private final LongAdder waitedNanos = new LongAdder();
    private volatile @Nullable IreeException refusal; // failure of calls once closed; null for the usual failure
    final HeldCalls held; // waiting to be admitted, or about to be made
    private final UseGuard guard;
    final ProgramEnd end;

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
        this.guard = UseGuard.of(() -> "program '" + name + "'", this::free);
        this.end = new ProgramEnd(this, operations);
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

    /** The reason for which a call waiting to be admitted must not continue. */
    IreeException cancelled(String function) {
        IreeException cause = end.cause();
        return IreeException.of(
                StatusCode.CANCELLED,
                "call of '%s' was cancelled%s".formatted(function, cause == null ? "" : ": " + cause.getMessage()),
                cause);
    }

    // Calls in progress.

    /** The waits of calls for their turn. */
    public synchronized TurnStatistics turns() {
        int inLine = (int) listed.stream().filter(Call::isInLine).count();
        return new TurnStatistics(inLine, waited.sum(), Duration.ofNanos(waitedNanos.sum()));
    }

    /** Records that a call has got its turn after waiting in line since the given moment. */
    void leftLine(long since) {
        waited.increment();
        waitedNanos.add(System.nanoTime() - since);
    }

    /** Describes the state of calls, up to a limit, in order of arrival. */
    public List<PendingCall> describe(int limit) {
        List<Call> calls = new ArrayList<>();
        synchronized (this) {
            Call running = limit > 0 ? unlisted() : null;
            if (running != null) {
                calls.add(running);
            }
            listed.stream().limit(limit - calls.size()).forEach(calls::add);
        }
        return calls.stream().map(Call::describe).toList();
    }

    /** The call running on the thread that made the call; null for none. */
    private @Nullable Call unlisted() {
        Call call = inTurn();
        return call == null || call.isListed ? null : call;
    }

    /** Calls of the list. */
    synchronized List<Call> listed() {
        return List.copyOf(listed);
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
        Call call = find(number);
        return call != null
                && call.cancelAlone(IreeException.of(
                        StatusCode.CANCELLED,
                        "call %d of '%s' was cancelled%s".formatted(number, call.holder.name(), how)));
    }

    private synchronized @Nullable Call find(long number) {
        Call running = unlisted();
        if (running != null && running.holder.number() == number) {
            return running;
        }
        for (Call each : listed) {
            if (each.holder.number() == number) {
                return each;
            }
        }
        return null;
    }

    /** Makes a call that begins to wait visible to diagnostics and to the closing thread, until the call is taken off the list. */
    void track(Call call) {
        call.startClock();
        synchronized (this) {
            listed.add(call);
            call.isListed = true;
        }
        end.giveUpIfClosed(call);
    }

    /** Takes a call of this thread off the list: the call runs, or has ended. */
    void removeOwn(Call call) {
        if (call.isListed) { // written by this thread
            remove(call);
        }
    }

    /** Takes a call off the list, and returns whether the call was present. */
    synchronized boolean remove(Call call) {
        if (!listed.remove(call)) {
            return false;
        }
        call.isListed = false;
        lingering -= call.lingers ? 1 : 0;
        return true;
    }

    /** Records that a tracked call has returned, and only waits for its fence. */
    void linger(Call call) {
        synchronized (this) {
            call.lingers = true;
            lingering++;
        }
        end.giveUpIfClosed(call);
        end.changed();
    }

    /** Number of calls only waiting for their fence. */
    synchronized int lingering() {
        return lingering;
    }

    // Turns.

    /** Records that a call has got its turn. */
    void takesTurn(Call call) {
        inTurn.setRelease(call);
    }

    /** Records that the call in turn is about to give up the turn. A call that has not ended is in the list by now. */
    void leavesTurn() {
        inTurn.setRelease(null);
    }

    /** The call in turn; null for none. */
    private @Nullable Call inTurn() {
        return inTurn.getAcquire();
    }

    /**
     * Returns the call that keeps another from beginning: the call in turn, or the first held call.
     *
     * @param outer the call that makes the other; null for none
     * @return null for none
     */
    @Nullable
    MemoryHolder keepingBack(@Nullable MemoryHolder outer) {
        Call call = inTurn();
        return call != null ? call.holder : held.first(outer);
    }

    /**
     * Whether the thread of a call executes operations of the call. False if foreign code may make the thread wait for
     * the operations without executing them.
     */
    boolean worksOnCaller() {
        return !mayBlock;
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
        ProcessOptions options = call.function.processOptions;
        if (mayBlock) {
            CallThread thread = new CallThread(call, options.name(), atEnd);
            call.lineUp(thread::wake);
        } else {
            CoroutineProcess.start(executor, call, options, onWorker);
        }
    }

    @Override
    public String toString() {
        return "program '" + name + "'" + (isClosed() ? " (closed)" : "");
    }
}
