package io.github.iree4j.call;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.lifetime.UseGuard;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.task.ProcessExecutor;
import io.github.iree4j.task.ProcessOptions;
import io.github.iree4j.tensor.DeviceMemory;
import io.github.iree4j.vm.Context;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The calls of one program: whose turn it is, which are under way, and how they end. Safe from any thread. */
public final class ProgramCalls {
    private final String name;
    private final Context context;
    private final DeviceMemory memory;
    private final OperationsUnderWay operations;
    private final ProcessExecutor executor;
    private final boolean mayBlock;
    private final boolean overlaps;
    private final Runnable freeing;
    private final ProgramLock lock = new ProgramLock();
    private final CallsUnderWay underWay = new CallsUnderWay();
    /** Whose calls others wait for; written in turn. In release mode: what looks at it late looks again. */
    private final AtomicReference<@Nullable MemoryHolder> inTurn = new AtomicReference<>();

    private final UseGuard guard;
    private final ProgramEnd end;

    /**
     * Of a program of that name, whose state is the context.
     *
     * @param memory where inputs and results are
     * @param operations counts what its calls submit
     * @param executor makes its calls
     * @param mayBlock whether its code may, so that it gets threads of its own
     * @param overlaps whether another call may run while one waits
     * @param freeing runs when it is closed and no call is left, once
     */
    public ProgramCalls(
            String name,
            Context context,
            DeviceMemory memory,
            OperationsUnderWay operations,
            ProcessExecutor executor,
            boolean mayBlock,
            boolean overlaps,
            Runnable freeing) {
        this.name = name;
        this.context = context;
        this.memory = memory;
        this.operations = operations;
        this.executor = executor;
        this.mayBlock = mayBlock;
        this.overlaps = overlaps;
        this.freeing = freeing;
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

    /** Where inputs and results are. */
    public DeviceMemory memory() {
        return memory;
    }

    /** What counts the operations of its calls. */
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
     * @throws IreeException FAILED_PRECONDITION when it is closed
     */
    public void enter() {
        guard.enter();
    }

    /** Ends a use. */
    public void exit() {
        guard.exit();
        end.changed();
    }

    /** How many uses there are. */
    public int active() {
        return guard.uses();
    }

    /** Refuses further calls; true for the one who did. */
    public boolean close() {
        return guard.close();
    }

    public boolean isClosed() {
        return guard.isClosed();
    }

    /** Cancels calls under way. After {@link #close}. */
    public void giveUp() {
        end.giveUp();
    }

    /** Waits for their end where the calling thread may, and not for ever. */
    public void awaitEnd() {
        end.await();
    }

    /** Why calls are not to go on; null while they may. */
    @Nullable
    IreeException givenUp() {
        return end.cause();
    }

    // Those under way.

    /** Makes what callers see of a call. */
    @FunctionalInterface
    public interface Description<T> {
        /** Of a call of that function, which is there, has been under way for so long, and waits for that. */
        T of(String function, CallState state, Duration since, List<PendingOperation.Wait> waits);
    }

    /** Says where calls are, of so many at most, in the order in which they came. */
    public <T> List<T> describe(int limit, Description<T> description) {
        return underWay.describe(limit, description);
    }

    /** Has a call that begins to wait be seen by those who ask, and by who closes the program, until it is taken off. */
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

    /** Takes back what a call that ends early has submitted and that waits; null for it was given up. */
    void withdraw(Call call, @Nullable IreeException cause) {
        IreeException given = cause != null
                ? cause
                : new IreeException(StatusCode.CANCELLED, "%s ended before its work was done".formatted(call.holder()));
        memory.device().schedulingDomain().withdraw(call.holder(), given);
    }

    void untrack(Call call) {
        underWay.remove(call);
    }

    // Turns.

    /** Says whose turn it is; null when no call keeps others from theirs. */
    void inTurn(@Nullable MemoryHolder holder) {
        inTurn.setRelease(holder);
    }

    @Nullable
    MemoryHolder inTurn() {
        return inTurn.getAcquire();
    }

    /** Whether the calling thread is a worker, which must not wait. */
    boolean isWorker() {
        return executor.isWorkerThread();
    }

    /** Runs one call and returns its results; the caller has entered the program and closes the arguments. */
    @Nullable
    Object[] run(FunctionCalls function, Call call) {
        if (!function.signature().isAsynchronous()) {
            return runHere(new ProgramCall(this, function, call, null, null));
        }
        TimelineSemaphore timeline = memory.device().createSemaphore(0, Device.SEMAPHORE_DEFAULT);
        Fence done = Fence.at(timeline, 1);
        @Nullable Object[] values;
        try (timeline;
                done) {
            values = runHere(new ProgramCall(this, function, call, null, done));
        }
        boolean waits = !done.isReached();
        if (waits) {
            call.waitsFor(done, CallState.BEFORE_RESULTS);
            track(call);
        }
        try {
            // Outside the turn, so that the next call may be submitted; and without a reference, so that a program that
            // gave the fence
            // up without signalling it fails the wait instead of leaving it to wait for ever.
            timeline.await(1);
        } catch (RuntimeException | Error e) {
            withdraw(call, e instanceof IreeException cause ? cause : null);
            ResultReader.free(values);
            throw e;
        } finally {
            if (waits) {
                untrack(call);
            }
        }
        return values;
    }

    /** Makes one call on this thread, which blocks while the call waits; one of a function with fences ends before its work does. */
    private @Nullable Object[] runHere(ProgramCall steps) {
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
        try {
            lock.take();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IreeException(
                    StatusCode.CANCELLED, "interrupted while waiting to call '%s'".formatted(function), e);
        }
        try {
            lock.run();
            boolean over = steps.begin();
            while (!over) {
                waitHere(steps);
                over = steps.resume();
            }
            return steps.takeValues();
        } finally {
            steps.end();
            lock.release();
        }
    }

    private void waitHere(ProgramCall steps) {
        Call call = steps.call();
        call.suspendedBy(steps.pendingWait());
        track(call);
        if (overlaps) {
            lock.release();
        }
        try {
            steps.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IreeException(
                    StatusCode.CANCELLED,
                    "interrupted while '" + steps.function().fullName() + "' was waiting",
                    e);
        } finally {
            untrack(call);
            if (overlaps) {
                lock.takeUninterruptibly();
                lock.run();
            }
        }
    }

    /**
     * Makes one call a step at a time.
     *
     * @param priority of its process
     * @param atEnd what to run when it has ended, on a thread where anything may be done
     * @param onWorker the same when it has ended on a worker: must not block or run anything foreign
     */
    void start(AsyncCall call, FunctionCalls function, int priority, Runnable atEnd, Runnable onWorker) {
        ProcessOptions options = function.processOptions();
        if (mayBlock) {
            CallThread thread = new CallThread(call, options.name(), atEnd);
            call.start(thread::wake);
        } else {
            CoroutineProcess.start(executor, call, priority == 0 ? options : options.prioritized(priority), onWorker);
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
