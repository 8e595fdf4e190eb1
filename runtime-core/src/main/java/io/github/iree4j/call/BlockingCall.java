package io.github.iree4j.call;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.async.ThreadDeadlines;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.pool.Admission;
import io.github.iree4j.hal.pool.MemoryEstimate;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.status.CallWait;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A call driven by the thread that makes the call: the thread blocks while the call waits. Ended by an interrupt of the
 * thread, or with the program.
 */
final class BlockingCall extends Call {
    private static final VarHandle INTERRUPTION;

    static {
        try {
            INTERRUPTION = MethodHandles.lookup().findVarHandle(BlockingCall.class, "interruption", Interruption.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** How the thread was interrupted to end the call. */
    private enum Interruption {
        BEING_MADE,
        MADE,
        OVER
    }

    /** A wait before the call has the turn. */
    private interface Wait {
        /** False when the wait was ended. */
        boolean await() throws InterruptedException;
    }

    private final Thread maker = Thread.currentThread();
    private volatile @Nullable Interruption interruption; // null before an interruption, and before the end
    private @Nullable IreeException interruptedBy; // published by 'interruption'

    BlockingCall(ProgramCalls program, FunctionCalls function, ArgumentList arguments) {
        super(program, function, arguments, true);
    }

    // Before the turn.

    /**
     * Waits until the call may hold memory, device after device.
     *
     * @param outer the call that makes this call; null for none
     */
    void admit(InputSize size, List<MemoryNeed> asks, @Nullable MemoryHolder outer) {
        String consumer = program.memory().consumer();
        boolean isBehind = !program.overlaps && !program.held.isEmpty(outer);
        for (MemoryNeed need : asks) {
            MemoryEstimate estimate = need.estimate(size);
            Admission admission = isBehind ? null : need.gate().tryAdmit(consumer, estimate);
            if (admission == null) {
                Admission joined = need.gate().join(consumer, !program.overlaps, estimate, false, null);
                if (!joined.isAdmitted()) {
                    await(
                            () -> MemoryNeeds.awaited(List.of(need), size, List.of(joined)),
                            joined::cancel,
                            joined::await);
                }
                admission = joined;
            }
            holder.admitted(admission);
        }
        if (isBehind) {
            awaitEarlier(outer);
        }
    }

    /** Waits until the calls of the program that were submitted and admitted before this call are made. */
    private void awaitEarlier(@Nullable MemoryHolder outer) {
        CountDownLatch made = new CountDownLatch(1);
        HeldCalls.Making making = _ -> {
            made.countDown();
            program.held.remove(outer);
            return true;
        };
        await(() -> MemoryWait.forEarlierCalls(made.getCount() == 0), made::countDown, () -> {
            program.held.add(outer);
            program.held.make(outer, making, holder, true);
            HeldCallbacks.help(); // this thread may have to make the earlier calls
            made.await();
            return !isCancelled();
        });
    }

    /**
     * Waits before the call can be made.
     *
     * @param end ends the wait, when the program is closed
     */
    private void await(Supplier<MemoryWait> memory, Runnable end, Wait wait) {
        become(State.FOR_MEMORY, null, memory);
        onCancel(end);
        program.track(this);
        try {
            if (!wait.await()) {
                throw program.cancelled(function.fullName());
            }
        } catch (InterruptedException e) {
            throw interrupted(
                    "a call of '%s' waited for %s"
                            .formatted(function.fullName(), memory.get().text().get()),
                    e);
        }
        become(State.MAKING);
    }

    /** Brings the inputs of the admitted call to the device. */
    void passInputs(InputSize size) {
        holder.calledHere(program.worksOnCaller());
        if (!arguments.pass(true, false)) {
            become(State.SHORT, null, () -> MemoryWait.ofInputs(size.copied(), !holder.isAwaitingMemory()));
            program.track(this); // the program's closing ends the wait
            arguments.pass(true, true);
            become(State.MAKING);
        }
    }

    // The turn.

    /** Runs the call and returns the results, freed by the caller. */
    @Nullable
    Object[] run() {
        @Nullable Object[] values = runToEnd();
        try {
            program.inPlace.requireUnchangedSince(filesSeen());
            requireInTime();
        } catch (IreeException e) {
            ResultReader.free(values);
            throw e;
        }
        return values;
    }

    /** END-4: a kernel on this thread does not see the interrupt at the deadline. */
    private void requireInTime() {
        if (ThreadDeadlines.isThreadLate()) {
            throw IreeException.of(
                    StatusCode.DEADLINE_EXCEEDED,
                    "call of '%s' ended after the deadline of its thread".formatted(function.fullName()));
        }
    }

    private @Nullable Object[] runToEnd() {
        if (!function.signature().isAsynchronous()) {
            return runInTurn(null);
        }
        TimelineSemaphore timeline = program.memory().device().createSemaphore(0, Device.SEMAPHORE_DEFAULT);
        timeline.setName(holder);
        Fence done = Fence.at(timeline, 1);
        @Nullable Object[] values;
        try (timeline;
                done) {
            passes(null, done);
            values = runInTurn(done);
        }
        try {
            holder.doOwnWork();
            // Outside the turn, so that the next call may be submitted. Without a reference, so that the wait fails,
            // instead of hanging, if the program drops the fence without a signal.
            timeline.await(1);
        } catch (RuntimeException | Error e) {
            IreeException cause = e instanceof IreeException failure ? interrupted(failure) : null;
            withdraw(cause);
            ResultReader.free(values);
            if (cause != null) {
                throw cause;
            }
            throw e;
        }
        return values;
    }

    /** Runs the code of the call. A call of a function with fences ends before its work is done. */
    private @Nullable Object[] runInTurn(@Nullable Fence done) {
        if (!program.lock.tryTake()) {
            waitForTurn();
        }
        try {
            runs();
            while (!advance()) {
                suspend();
            }
            if (done != null && !done.isReached()) {
                program.track(this); // in no list while running
                become(State.RETURNED, List.of(done));
            }
            return Objects.requireNonNull(values());
        } finally {
            end();
        }
    }

    private void waitForTurn() {
        become(State.IN_LINE);
        program.track(this);
        long since = System.nanoTime();
        try {
            program.lock.take();
            program.leftLine(since);
        } catch (InterruptedException e) {
            throw interrupted("waiting to call '%s'".formatted(function.fullName()), e);
        }
    }

    private void suspend() {
        suspends();
        try {
            holder.doOwnWork();
            await();
            become(State.IN_LINE);
        } catch (InterruptedException e) {
            throw interrupted(interrupted("'%s' was waiting".formatted(function.fullName()), e));
        } finally {
            if (program.overlaps) {
                program.lock.takeUninterruptibly();
            }
            runs();
        }
    }

    // The end.

    /** The failure of a wait ended by an interrupt; the thread stays interrupted. */
    private static IreeException interrupted(String wait, InterruptedException end) {
        Thread.currentThread().interrupt();
        return IreeException.of(StatusCode.CANCELLED, "interrupted while " + wait, end);
    }

    /** Adds to the failure of the call, if the thread was interrupted, what the call waited for. */
    IreeException interrupted(IreeException failure) {
        return Thread.currentThread().isInterrupted()
                        && failure.detail(CallWait.class).isEmpty()
                ? IreeException.of(failure.code(), failure.getMessage(), failure, new CallWait(awaited()))
                : failure;
    }

    @Override
    boolean cancelAlone(IreeException cause) {
        // END-3: the thread does not leave the call before the interruption is recorded as MADE.
        if (!INTERRUPTION.compareAndSet(this, null, Interruption.BEING_MADE)) {
            return false;
        }
        interruptedBy = cause;
        maker.interrupt();
        interruption = Interruption.MADE;
        return true;
    }

    /** Clears the interrupt that ended the call, and returns whether there was an interrupt. Called after the call. */
    boolean wasInterrupted() {
        if (INTERRUPTION.compareAndSet(this, null, Interruption.OVER)) {
            return false;
        }
        while (interruption == Interruption.BEING_MADE) {
            Thread.onSpinWait();
        }
        Thread.interrupted();
        return true;
    }

    /** Returns the failure of a call that {@link #wasInterrupted}, with the stack of the call. */
    IreeException cancelled(Throwable end) {
        IreeException given = Objects.requireNonNull(interruptedBy);
        return IreeException.of(given.code(), given.getMessage(), end);
    }

    @Override
    boolean giveUp(IreeException cause) {
        cancel();
        return true;
    }

    @Override
    boolean isDelivered() {
        return true;
    }

    @Override
    void leaveEarly() {} // lingers never

    @Override
    @Nullable
    Fence signal() {
        return null;
    }
}
