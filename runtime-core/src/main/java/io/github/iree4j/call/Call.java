package io.github.iree4j.call;

import io.github.iree4j.async.AwaitsFences;
import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.monitor.PendingCall;
import io.github.iree4j.status.FilesInPlace;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.VmWait;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A call, from the wait for memory until its end. The steps are the same on every thread; a {@link BlockingCall} is
 * driven by the thread that makes the call, an {@link AsyncCall} by workers. Another thread can cancel this call, and
 * no other call, although later calls reuse invocations and threads.
 */
abstract sealed class Call extends CallState permits BlockingCall, AsyncCall {
    final ProgramCalls program;
    final FunctionCalls function;
    final ArgumentList arguments;
    final MemoryHolder holder;
    private final boolean blocks;

    // In the program's turn.
    private @Nullable Fence ready;
    private @Nullable Fence done;
    private @Nullable CompletableFuture<@Nullable IreeException> verdict; // on files, before the first instruction
    private @Nullable Invocation invocation; // also guarded by this, unless the call blocks its thread
    private @Nullable Object @Nullable [] values;

    private @Nullable Thread thread;
    private @Nullable Runnable onCancel;
    private boolean cancelled;
    private long filesSeen; // written as the call's code begins, and published with the results

    // Guarded by the list of calls in progress.
    boolean isListed;
    boolean lingers;

    /**
     * Creates a call that has not begun.
     *
     * @param blocks whether the call is driven by the thread that makes the call
     */
    Call(ProgramCalls program, FunctionCalls function, ArgumentList arguments, boolean blocks) {
        this.program = program;
        this.function = function;
        this.arguments = arguments;
        this.blocks = blocks;
        this.holder = arguments.holder();
    }

    /** Sets the thread that may be interrupted: a thread of the runtime, never the caller's. */
    synchronized void runsOn(@Nullable Thread own) {
        thread = own;
    }

    /** The call has the turn, and its code runs on this thread. */
    void runs() {
        program.lock.run();
        if (blocks) {
            runHere();
            program.takesTurn(this);
            program.removeOwn(this);
        } else {
            become(State.RUNNING);
            program.takesTurn(this);
        }
    }

    /**
     * The code of the call in turn waits. The call gives up the turn where calls overlap.
     *
     * @return the wait, pending until the call is advanced or abandoned
     */
    VmWait suspends() {
        Invocation waiting = invocation;
        VmWait wait = waiting != null ? waiting.pendingWait() : VmWait.of(Objects.requireNonNull(verdict));
        if (blocks) {
            program.track(this); // in no list while running
        }
        become(State.SUSPENDED, wait instanceof AwaitsFences fences ? fences.awaited() : List.of());
        if (program.overlaps) {
            program.leavesTurn();
            program.lock.release();
        } else if (!blocks) { // otherwise this thread waits inside the call
            program.lock.pause();
        }
        return wait;
    }

    /** Describes the call's state. */
    PendingCall describe() {
        Place at = place();
        List<PendingOperation.Wait> waits = at.waits();
        MemoryWait memory = at.memory().get();
        PendingCall.State shown = at.state().shown;
        PendingCall.State state = shown == PendingCall.State.FOR_MEMORY ? memory.state() : shown;
        long now = System.nanoTime(); // after the times to be subtracted
        boolean isAdmitted = state == PendingCall.State.IN_LINE && shown != state; // has not changed its state yet
        return new PendingCall(
                function.fullName(),
                state,
                before(now, since()),
                waits,
                PendingOperation.pointsOf(signal()),
                holder.number(),
                before(now, isAdmitted ? now : changed()),
                memory.bytes());
    }

    /** Describes what the call waits for, for its failure; empty when running, or unknown. On the thread of a blocking call. */
    String awaited() {
        long bytes = program.memory().device().schedulingDomain().awaitedBytes(holder);
        if (bytes > 0) {
            return bytes + " bytes of memory";
        }
        Place at = place();
        return switch (at.state()) {
            case BEFORE_INPUTS, SUSPENDED -> describe(at.waits());
            case FOR_MEMORY, SHORT -> at.memory().get().text().get();
            case ADMITTED, MAKING, IN_LINE -> "its turn";
            case RUNNING -> "";
            case RETURNED, ENDED -> "its work";
        };
    }

    static String describe(List<PendingOperation.Wait> waits) {
        return waits.stream().map(PendingOperation.Wait::describe).collect(Collectors.joining(" and "));
    }

    private static Duration before(long now, long then) {
        return Duration.ofNanos(then == 0 ? 0 : Math.max(0, now - then));
    }

    /** Withdraws the pending operations of this call, which ends early; a null cause means an abandoned call. */
    void withdraw(@Nullable IreeException cause) {
        IreeException given = cause != null
                ? cause
                : IreeException.of(StatusCode.CANCELLED, "%s ended before its work was done".formatted(holder));
        program.memory().device().schedulingDomain().withdraw(holder, given);
    }

    // In the program's turn.

    /**
     * Sets the fences passed to a function with fences, before the call begins.
     *
     * @param before the fence at which the inputs have their contents; null for ready inputs
     * @param after the fence to be reached by the function
     */
    void passes(@Nullable Fence before, @Nullable Fence after) {
        ready = before;
        done = after;
    }

    /** Whether the call has had the turn. */
    boolean hasBegun() {
        return verdict != null || invocation != null;
    }

    /**
     * Begins the call, or continues after a wait that has ended or when the call was cancelled, until the function
     * returns or waits.
     *
     * @return false when the call waits, possibly before its first instruction
     */
    boolean advance() {
        Invocation waiting = invocation;
        if (waiting != null) {
            return run(waiting, true);
        }
        CompletableFuture<@Nullable IreeException> known = verdict;
        CompletableFuture<@Nullable IreeException> awaited = known != null ? known : program.inPlace.verdict();
        if (awaited != null) {
            checkNotCancelled(); // a call cancelled in line was woken before, and is not woken again
            if (known == null) {
                verdict = awaited;
                return false;
            }
            IreeException failure = awaited.join(); // complete, unless the call was cancelled
            if (failure != null) {
                throw failure;
            }
        }
        // PLACE-1: after the check, so that files compared in between were touched before.
        filesSeen = program.inPlace.comparisons();
        return run(begin(), false);
    }

    private Invocation begin() {
        Invocation taken = function.takeInvocation(program.context);
        taken.endsWhenInterrupted(blocks);
        if (blocks) {
            invocation = taken; // saves two locks, noticeable for a trivial function
        } else {
            synchronized (this) {
                invocation = taken;
                checkNotCancelled();
            }
        }
        arguments.writeTo(taken);
        if (done != null) {
            taken.ref((Object) ready);
            taken.ref(done);
        }
        return taken;
    }

    /** Runs code of the program with the call as memory holder. */
    private boolean run(Invocation taken, boolean again) {
        holder.begins();
        MemoryHolder before = holder.enter();
        try {
            boolean isOver = again ? taken.resume() : taken.start();
            if (isOver) {
                values = ResultReader.read(function.signature().results(), taken, program.memory());
                holder.suspendsUntil(List.of());
            }
            return isOver;
        } catch (IreeException e) {
            IreeException givenUp = program.end.cause();
            throw givenUp != null && e.code() == StatusCode.CANCELLED
                    ? IreeException.of(StatusCode.CANCELLED, e.getMessage() + ": " + givenUp.getMessage(), e)
                    : program.explanation.apply(e);
        } finally {
            holder.leave(before);
        }
    }

    /** Blocks until the call can be advanced, or was cancelled. Not only in turn. */
    void await() throws InterruptedException {
        Invocation waiting = invocation;
        if (waiting != null) {
            waiting.awaitReady();
        } else {
            CountDownLatch over = new CountDownLatch(1);
            Objects.requireNonNull(verdict).whenComplete((_, _) -> over.countDown());
            onCancel(over::countDown); // when the program is closed
            over.await();
        }
    }

    /** The results, freed by the caller; null before the function has returned. */
    @Nullable
    Object @Nullable [] values() {
        return values;
    }

    /** The number of {@linkplain FilesInPlace#comparisons comparisons} of files in place when the call's code began. */
    long filesSeen() {
        return filesSeen;
    }

    /** Ends the turn of the call for good. */
    void end() {
        Invocation taken = invocation;
        if (!blocks) {
            synchronized (this) {
                invocation = null;
            }
        }
        program.leavesTurn();
        if (taken != null) {
            if (values == null) { // while the invocation still has the cause with which its operations fail
                withdraw(null);
            }
            function.giveBack(taken);
        }
        program.lock.release();
    }

    // Cancellation.

    /** Sets a listener for cancellation, notified at once if the call is already cancelled. */
    void onCancel(Runnable listener) {
        synchronized (this) {
            onCancel = listener;
            if (!cancelled) {
                return;
            }
        }
        listener.run();
    }

    /**
     * Ends this call soon, and no other call, at the request of an operator; false when the call has ended, or is being
     * ended.
     */
    abstract boolean cancelAlone(IreeException cause);

    /**
     * Ends the call soon because the program is closed; false when the outcome of the call was decided before. A
     * blocking call may have ended; then no call of the program runs any more.
     */
    abstract boolean giveUp(IreeException cause);

    /** Whether the caller has the outcome of this call, now that the call was given up. */
    abstract boolean isDelivered();

    /** Ends a call that has returned and lingers, before its fence is reached. */
    abstract void leaveEarly();

    /** The fence to be signalled by the call, only read, like the awaited fences; null for none. */
    abstract @Nullable Fence signal();

    /** Ends the call at its next step, or wait. */
    void cancel() {
        Runnable listener;
        synchronized (this) {
            cancelled = true;
            holder.abandon();
            if (invocation != null) {
                invocation.cancel();
            }
            if (thread != null) {
                thread.interrupt();
            }
            listener = onCancel;
        }
        if (listener != null) {
            listener.run();
        }
    }

    synchronized boolean isCancelled() {
        return cancelled;
    }

    synchronized void checkNotCancelled() {
        if (cancelled) {
            throw program.cancelled(function.fullName());
        }
    }
}
