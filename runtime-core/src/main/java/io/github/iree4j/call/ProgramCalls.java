package io.github.iree4j.call;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.lifetime.UseGuard;
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
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** The calls of one program: their turns, the calls in progress, and their end. Safe from any thread. */
public final class ProgramCalls {
    private final String name;
    private final Context context;
    private final DeviceMemory memory;
    private final OperationsUnderWay operations;
    private final ProcessExecutor executor;
    private final boolean mayBlock;
    private final boolean overlaps;
    private final FilesInPlace inPlace;
    private final Runnable freeing;
    private final ProgramLock lock = new ProgramLock();
    private final CallsUnderWay underWay = new CallsUnderWay();
    /** The holder of the turn; written in turn. In release mode: late readers re-read it. */
    private final AtomicReference<@Nullable MemoryHolder> inTurn = new AtomicReference<>();

    private final LongAdder waited = new LongAdder(); // calls that have waited for their turn
    private final LongAdder waitedNanos = new LongAdder();
    private volatile @Nullable IreeException refusal; // of calls once it is closed; null for the usual
    private final HeldCalls held;
    private final UseGuard guard;
    private final ProgramEnd end;

    /**
     * Creates the calls of a program, whose state is the context.
     *
     * @param memory memory of inputs and results
     * @param operations counts the operations that its calls submit
     * @param executor runs its calls
     * @param mayBlock whether its code may block, so that it gets its own threads
     * @param overlaps whether another call may run while one waits
     * @param inPlace the files that its code uses in place: calls during which one is changed fail
     * @param freeing runs once, when it is closed and no call is left
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
            Runnable freeing) {
        this.name = name;
        this.context = context;
        this.memory = memory;
        this.operations = operations;
        this.executor = executor;
        this.mayBlock = mayBlock;
        this.overlaps = overlaps;
        this.inPlace = inPlace;
        this.freeing = freeing;
        this.held = new HeldCalls("iree4j-admitted " + name);
        this.guard = new UseGuard(() -> "program '" + name + "'", this::free);
        this.end = new ProgramEnd(this, underWay, operations);
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

    /** The counter of its calls' operations. */
    OperationsUnderWay operations() {
        return operations;
    }

    Context context() {
        return context;
    }

    ProgramLock lock() {
        return lock;
    }

    /** Whether another call may run while one waits. */
    boolean overlaps() {
        return overlaps;
    }

    // Uses and their end.

    /**
     * Begins a use of the program, which keeps it from being freed until {@link #exit}.
     *
     * @throws IreeException when it is closed: FAILED_PRECONDITION, or as it was closed with
     */
    public void enter() {
        if (!guard.tryEnter()) {
            IreeException why = refusal;
            throw why == null
                    ? new IreeException(
                            StatusCode.FAILED_PRECONDITION, "program '" + name + "' is closed", null, new Refusal(this))
                    : new IreeException(why.code(), why.getMessage(), why, new Refusal(this));
        }
    }

    /** Says which program was closed when a use was to begin. */
    private record Refusal(ProgramCalls program) implements FailureDetail {}

    /** Whether a failure says that this program was closed when a use was to begin, of which nothing was done then. */
    public boolean hasRefused(IreeException failure) {
        Refusal refusal = failure.detail(Refusal.class);
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

    /** Refuses further calls, as the first caller says, or with FAILED_PRECONDITION; true for the first caller. */
    public boolean close(@Nullable IreeException why) {
        if (!guard.isClosed()) {
            refusal = why;
        }
        return guard.close();
    }

    public boolean isClosed() {
        return guard.isClosed();
    }

    /** Cancels calls in progress. After {@link #close}. */
    public void giveUp() {
        end.giveUp();
    }

    /** Waits for their end, at most so many nanoseconds, if the calling thread may. */
    public void awaitEnd(long nanos) {
        end.await(nanos);
    }

    /** Why calls must not continue; null while they may. */
    @Nullable
    IreeException givenUp() {
        return end.cause();
    }

    /** Why a call of a function that waits to be admitted must not continue. */
    IreeException cancelled(String function) {
        IreeException cause = givenUp();
        return new IreeException(
                StatusCode.CANCELLED,
                "call of '%s' was cancelled%s".formatted(function, cause == null ? "" : ": " + cause.getMessage()),
                cause);
    }

    /** The files that its code uses in place, to look at before a call begins and before its results are given. */
    FilesInPlace inPlace() {
        return inPlace;
    }

    // Calls in progress.

    /** Its calls that wait to be admitted, or are about to be made. */
    HeldCalls held() {
        return held;
    }

    /** Creates the public description of a call. */
    @FunctionalInterface
    public interface Description<T> {
        /** Describes a call by its function, state, age, waits, number, and the time since its state has changed. */
        T of(
                String function,
                CallState state,
                Duration since,
                List<PendingOperation.Wait> waits,
                long id,
                Duration unchanged);
    }

    /** Number of calls that wait for their turn. */
    public int inLine() {
        return underWay.inLine();
    }

    /** Number of calls that have waited for their turn. */
    public long waitedInLine() {
        return waited.sum();
    }

    /** How long they have waited, nanoseconds. */
    public long waitedInLineNanos() {
        return waitedNanos.sum();
    }

    /** A call has got its turn after it has waited in line since a moment. */
    void leftLine(long since) {
        waited.increment();
        waitedNanos.add(System.nanoTime() - since);
    }

    /** Describes the state of calls, up to a limit, in order of arrival. */
    public <T> List<T> describe(int limit, Description<T> description) {
        return underWay.describe(limit, description);
    }

    /**
     * Ends one call soon, with CANCELLED.
     *
     * @param number as in its description
     * @return false when no such call is in progress
     */
    public boolean cancel(long number) {
        Call call = underWay.find(number);
        return call != null && call.cancelAlone(this, cancelled(call, null));
    }

    /** Why a call that was cancelled by its number failed. */
    static IreeException cancelled(Call call, @Nullable Throwable cause) {
        return new IreeException(
                StatusCode.CANCELLED,
                "call %d of '%s' was cancelled by its number"
                        .formatted(call.number(), call.holder().name()),
                cause);
    }

    /** Makes a call that begins to wait visible to diagnostics and to the closing thread, until it is removed or runs. */
    void track(Call call) {
        call.startClock();
        underWay.add(call);
        end.giveUpIfClosed(call);
    }

    /** A tracked call has returned, and waits for its fence only. */
    void linger(Call call) {
        underWay.linger(call);
        end.giveUpIfClosed(call);
        end.changed();
    }

    /** Withdraws the pending operations of a call that ends early; a null cause means that it was abandoned. */
    void withdraw(Call call, @Nullable IreeException cause) {
        IreeException given = cause != null
                ? cause
                : new IreeException(StatusCode.CANCELLED, "%s ended before its work was done".formatted(call.holder()));
        memory.device().schedulingDomain().withdraw(call.holder(), given);
    }

    /** A call of this thread has ended. */
    void ends(Call call) {
        underWay.ends(call);
    }

    void untrack(Call call) {
        underWay.remove(call);
    }

    // Turns.

    /** Sets the holder of the turn; null when the turn is free. */
    void inTurn(@Nullable MemoryHolder holder) {
        inTurn.setRelease(holder);
    }

    @Nullable
    MemoryHolder inTurn() {
        return inTurn.getAcquire();
    }

    /** Whether the thread of a call executes operations of the call: not if code of others may have it wait for them without doing so. */
    boolean worksOnCaller() {
        return !mayBlock;
    }

    /** Whether the calling thread is a worker, which must not wait. */
    boolean isWorker() {
        return executor.isWorkerThread();
    }

    /** Runs one call and returns its results; the caller has entered the program and closes the arguments. */
    @Nullable
    Object[] run(FunctionCalls function, Call call) {
        @Nullable Object[] values = runToEnd(function, call);
        try {
            inPlace.requireUnchangedSince(call.filesSeen());
        } catch (IreeException e) {
            ResultReader.free(values);
            throw e;
        }
        return values;
    }

    private @Nullable Object[] runToEnd(FunctionCalls function, Call call) {
        if (!function.signature().isAsynchronous()) {
            return runHere(new ProgramCall(this, function, call, null, null), null);
        }
        TimelineSemaphore timeline = memory.device().createSemaphore(0, Device.SEMAPHORE_DEFAULT);
        timeline.setName(call.holder());
        Fence done = Fence.at(timeline, 1);
        @Nullable Object[] values;
        try (timeline;
                done) {
            values = runHere(new ProgramCall(this, function, call, null, done), done);
        }
        try {
            call.holder().doOwnWork();
            // Outside the turn, so that the next call may be submitted; and without a reference, so that the wait
            // fails, instead of hanging, if the program drops the fence without signalling it.
            timeline.await(1);
        } catch (RuntimeException | Error e) {
            withdraw(call, e instanceof IreeException cause ? cause : null);
            ResultReader.free(values);
            throw e;
        }
        return values;
    }

    /** Runs one call on this thread, which blocks while the call waits; a call of a function with fences ends before its work is done. */
    private @Nullable Object[] runHere(ProgramCall steps, @Nullable Fence done) {
        String function = steps.function().fullName();
        if (isWorker()) {
            throw new IreeException(
                    StatusCode.FAILED_PRECONDITION,
                    "'%s' was called by a worker, which must not wait; use invokeAsync or submit".formatted(function));
        }
        if (lock.isRunBySelf()) {
            throw new IreeException(
                    StatusCode.FAILED_PRECONDITION,
                    "'%s' was called from within a call of the same program; load the program twice"
                            .formatted(function));
        }
        Call call = steps.call();
        if (!lock.tryTake()) {
            waitForTurn(call, function);
        }
        try {
            lock.run();
            call.startClock();
            underWay.runs(call);
            boolean over = steps.begin(true);
            while (!over) {
                waitHere(steps);
                over = steps.resume();
            }
            @Nullable Object[] values = steps.takeValues();
            if (done != null && !done.isReached()) {
                call.waitsFor(done, CallState.BEFORE_RESULTS);
                stops(call);
            }
            return values;
        } finally {
            underWay.leavesTurn();
            steps.end();
            lock.release();
        }
    }

    /** A call in turn begins to wait. */
    private void stops(Call call) {
        underWay.stops(call);
        end.giveUpIfClosed(call);
    }

    private void waitForTurn(Call call, String function) {
        track(call);
        long since = System.nanoTime();
        try {
            lock.take();
            leftLine(since);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IreeException(
                    StatusCode.CANCELLED, "interrupted while waiting to call '%s'".formatted(function), e);
        }
    }

    private void waitHere(ProgramCall steps) {
        Call call = steps.call();
        call.suspendedBy(steps.pendingWait());
        stops(call);
        if (overlaps) {
            lock.release();
        }
        try {
            call.holder().doOwnWork();
            steps.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IreeException(
                    StatusCode.CANCELLED,
                    "interrupted while '" + steps.function().fullName() + "' was waiting",
                    e);
        } finally {
            call.inLine();
            if (overlaps) {
                lock.takeUninterruptibly();
                lock.run();
            }
            underWay.runs(call);
        }
    }

    /**
     * Starts a call that runs in steps.
     *
     * @param atEnd run when it has ended, on a thread where arbitrary code may run
     * @param onWorker the same when it has ended on a worker: must not block or run foreign code
     */
    void start(AsyncCall call, FunctionCalls function, Runnable atEnd, Runnable onWorker) {
        ProcessOptions options = function.processOptions();
        if (mayBlock) {
            CallThread thread = new CallThread(call, options.name(), atEnd);
            call.start(thread::wake);
        } else {
            CoroutineProcess.start(executor, call, options, onWorker);
        }
    }

    String name() {
        return name;
    }

    @Override
    public String toString() {
        return "program '" + name + "'" + (isClosed() ? " (closed)" : "");
    }
}
