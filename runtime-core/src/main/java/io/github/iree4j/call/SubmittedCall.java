package io.github.iree4j.call;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.Deadline;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.async.IreeFuture;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.HostSpan;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.CallWait;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A call from its submission until the call is complete or has failed, between two fences where fences are given. Keeps
 * the program open and the inputs in use until then. The end happens once: on the thread that takes the call off the
 * awaited fence, otherwise through the call. No worker runs the continuations of the end, see {@link CallFuture}.
 */
final class SubmittedCall<R> extends AsyncCall {
    private final @Nullable Fence signal;
    private final CallTerms terms;
    private final Admitting admitting;
    private final Function<@Nullable Object[], R> results;
    private final Consumer<R> discard;
    private final CallFuture<R> future;
    private final AtomicBoolean hasEndedFence = new AtomicBoolean();
    private volatile Cancellation timer = Cancellation.OVER; // of the deadline
    private volatile @Nullable Cancellation waiting;
    private volatile @Nullable Cancellation line; // place in the line for memory
    private volatile Cancellation postponed = Cancellation.OVER;
    private final List<RefCounted> ours = new ArrayList<>(); // until the code has ended; handed from thread to thread
    private Runnable lastStep = () -> {}; // once the call lingers; published by the list
    private boolean succeeded; // written by the thread that ends the call
    private boolean hasGivenBack; // guarded by the arguments

    /**
     * Creates the submission of a call with its arguments, on the submitting thread.
     *
     * @param results converts the results for the future; on a thread where arbitrary code may run
     * @param discard frees converted results without a receiver
     */
    SubmittedCall(
            ProgramCalls program,
            FunctionCalls function,
            ArgumentList arguments,
            CallTerms terms,
            Function<@Nullable Object[], R> results,
            Consumer<R> discard) {
        super(program, function, arguments, terms.priority());
        Fence after = terms.after();
        boolean isAhead = after != null && !after.isReached() && function.goesAhead;
        this.terms = terms;
        this.admitting = new Admitting(program, function.needs, arguments.size(), holder, this, isAhead ? after : null);
        this.signal = terms.signal();
        this.results = results;
        this.discard = discard;
        this.future = new CallFuture<>(function.fullName(), holder, this::checkMayWait);
        this.future.onFailure(this::abandon);
    }

    /** Passes the arguments if the call is admitted at once, and holds the arguments otherwise. */
    void admit() {
        boolean isAhead = admitting.isAhead();
        boolean mayBeMade = isAhead || terms.after() == null || terms.after().isReached();
        if (mayBeMade && admitting.tryAdmit() && arguments.pass(!isAhead, false)) {
            become(State.IN_LINE);
        } else {
            arguments.hold();
        }
    }

    /** Takes ownership of the use of the program and of the arguments, unless this method throws. */
    IreeFuture<R> start() {
        Fence wait = terms.after();
        boolean hasFences = function.signature().isAsynchronous();
        TimelineSemaphore own = null;
        try {
            if (wait != null) {
                wait.retain(); // throws if the fence is closed, before anything is promised
                ours.add(wait);
            }
            if (hasFences && (signal == null || !program.inPlace.isEmpty())) {
                own = program.memory().device().createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                ours.add(own);
                own.setName(holder);
            }
            if (signal != null) {
                signal.retain();
                ours.add(signal);
                signal.addSignaller();
                ours.remove(signal); // from here on kept until the fence has ended
            }
        } catch (RuntimeException | Error e) {
            takeOurs().forEach(RefCounted::release);
            throw e;
        }
        watchDeadline();
        program.track(this);
        if (hasFences) {
            callWithFences(own);
        } else {
            makeAfter(this::startHostWork);
        }
        return future;
    }

    private void callWithFences(@Nullable TimelineSemaphore own) {
        Fence reached = signal;
        if (own != null) { // the fence's timeline fails when the program drops the fence
            reached = Fence.at(own, 1);
            ours.add(reached);
        }
        Fence done = Objects.requireNonNull(reached);
        Fence promised = signal;
        makeBetween(
                done,
                promised == null ? values -> awaitContents(values, done) : values -> promise(values, done, promised));
    }

    /** Ends the call at its deadline. */
    private void watchDeadline() {
        Deadline deadline = terms.deadline();
        if (isLate()) { // a timer would give the call some time
            future.completeExceptionally(late());
        } else if (deadline != null) {
            timer = deadline.whenPassed(Duration.ZERO, "iree4j-late " + function.fullName(), this::expire);
        }
    }

    /** Whether the deadline has passed by the clock, whether or not the timer has noticed. */
    private boolean isLate() {
        Deadline deadline = terms.deadline();
        return deadline != null && deadline.hasPassed();
    }

    /** Ends the call at its deadline, also if only its work is left. */
    private void expire() {
        IreeException cause = late();
        if (!future.completeExceptionally(cause)) { // the results were promised; the fence fails with the pending work
            withdraw(future.failure() == null ? cause : abandoned());
        }
    }

    @Override
    boolean cancelAlone(IreeException cause) {
        boolean isGivenUp = giveUp(cause);
        boolean hasWork = holder.unfinished() > 0;
        withdraw(cause);
        return isGivenUp || hasWork;
    }

    @Override
    boolean isDelivered() {
        return future.isDone();
    }

    @Override
    @Nullable
    Fence signal() {
        return signal;
    }

    private IreeException late() {
        IreeException files = program.inPlace.doubt();
        if (files != null) { // the call waits, or the call for whose turn this call waits
            return CallWait.late(function.fullName(), terms.limit(), files);
        }
        String inputs = Call.describe(PendingOperation.waitsFor(terms.after())); // awaited by the call, or by its work
        return CallWait.late(function.fullName(), terms.limit(), inputs.isEmpty() ? awaited() : inputs);
    }

    /**
     * Ends the call as if from outside, on a separate thread: continuations of the future may run arbitrary code. The
     * outcome is decided at once, so that the code of the call, ended by the same cause, fails with this cause.
     *
     * @return false when the outcome was decided before
     */
    @Override
    boolean giveUp(IreeException cause) {
        boolean isFirst = future.claim(cause);
        if (isFirst) {
            CallThreads.start("iree4j-late " + function.fullName(), () -> future.deliver(cause));
        }
        return isFirst;
    }

    /**
     * Refuses an endless wait: a holder of the program's turn keeps the turn while waiting, so a call needing the turn
     * would never continue, unless the call has a deadline.
     */
    private void checkMayWait() {
        if (!terms.isPatienceLimited() && program.lock.isRunBySelf() && !isPastTurn()) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "'%s' was waited for from within a call of the same program, before whose end it cannot go on; load the program twice"
                            .formatted(function.fullName()));
        }
    }

    private void abandon() {
        cancel();
        Cancellation inLine = line;
        if (inLine != null && inLine.cancel()) {
            postponed.cancel();
            fail(abandoned());
            return;
        }
        Cancellation wait = waiting;
        if (wait != null && wait.cancel()) {
            @Nullable Object[] values = values(); // published by 'waiting'
            if (values != null) {
                ResultReader.free(values); // work in flight keeps the memory it needs
            }
            fail(abandoned());
        }
    }

    // Admission.

    /** Makes the call once the fence, if any, is reached, and the call may hold memory. */
    private void makeAfter(Runnable next) {
        Fence wait = terms.after();
        if (wait == null || isMade()) { // made at once: the fence is reached
            whenAdmitted(next);
            return;
        }
        become(State.BEFORE_INPUTS, List.of(wait));
        ours.remove(wait); // a waiting call keeps no fence open
        waiting = wait.whenReached(failure -> {
            if (failure == null) {
                whenAdmitted(next);
            } else {
                failSoon(failure); // off the signalling thread: the last user of a closed program frees the program
            }
        });
        wait.release();
        lookAgain();
    }

    /** Makes the call once the call may hold memory: at once, or on another thread, see {@link HeldCalls}. */
    private void whenAdmitted(Runnable next) {
        if (!isMade()) {
            line = admitting.join(mayWait -> attempt(next, mayWait));
            lookAgain();
            return;
        }
        admitting.watch();
        try {
            next.run();
        } catch (RuntimeException | Error e) { // nobody else learns of the exception
            failSoon(IreeFuture.failureOf(e));
        }
    }

    /** Makes an admitted call, or fails the call: see {@link HeldCalls.Making#make}. */
    private boolean attempt(Runnable next, boolean mayWait) {
        IreeException failure = null;
        try {
            boolean isAhead = isAhead();
            if (!arguments.pass(!isAhead, false)) {
                if (isAhead) { // no ready call waits for a call that is not ready
                    postpone();
                    return true;
                }
                become(State.SHORT, null, admitting::awaitedInputs);
                if (!mayWait) {
                    return false;
                }
                arguments.pass(true, true);
            }
            become(State.IN_LINE);
            next.run();
        } catch (RuntimeException | Error e) {
            failure = IreeFuture.failureOf(e);
        }
        admitting.leaveOrder();
        if (failure != null) {
            failSoon(failure);
        }
        return true;
    }

    /** Makes a call, whose inputs lack memory, once the fence is reached. */
    private void postpone() {
        Fence after = Objects.requireNonNull(terms.after());
        become(State.BEFORE_INPUTS, List.of(after));
        // The place in line alone decides about the end of the call.
        postponed = after.whenReached(failure -> {
            if (failure == null) {
                admitting.makeSoon();
            } else if (admitting.cancel()) {
                failSoon(failure);
            }
        });
        lookAgain();
    }

    /** Fails the call on a thread where arbitrary code may run. */
    private void failSoon(IreeException cause) {
        future.conclude("iree4j-end " + function.fullName(), () -> fail(cause));
    }

    /** Whether the call is made before the fence at which the inputs have their contents. */
    private boolean isAhead() {
        Fence after = terms.after();
        return function.goesAhead && after != null && !after.isReached();
    }

    /** The failure of an abandoned call. */
    private IreeException abandoned() {
        return future.failure() instanceof IreeException given
                ? given
                : IreeException.of(
                        StatusCode.CANCELLED, "submission of '%s' was cancelled".formatted(function.fullName()));
    }

    /**
     * Makes the call and passes the results to the conclusion, on a thread where arbitrary code may run. Then releases
     * the call's references: work started by the call has its own references.
     */
    private void start(@Nullable Fence ready, @Nullable Fence done, Consumer<@Nullable Object[]> conclusion) {
        passes(ready, done);
        Runnable end = () -> {
            @Nullable Object[] values = values();
            if (values == null) {
                fail(IreeFuture.failureOf(failure));
                return;
            }
            List<RefCounted> kept = takeOurs(); // first: the conclusion may hand the call to another thread
            conclusion.accept(values);
            kept.forEach(RefCounted::release);
        };
        program.start(this, end, () -> {
            boolean hasReturned = values() != null;
            if (hasReturned && signal == null && done != null) {
                end.run(); // only starts to wait for the work, without blocking
                return;
            }
            boolean isOver = hasReturned && (done == null || done.isReached());
            if (hasReturned && done != null && !isOver) { // before the end, which may release the fence
                done.whenReached(failure -> workIsOver(failure == null));
            }
            future.conclude("iree4j-call " + function.fullName(), end); // first: the next call may keep this thread
            if (isOver) {
                workIsOver(true);
            }
        });
    }

    private List<RefCounted> takeOurs() {
        List<RefCounted> taken = List.copyOf(ours);
        ours.clear();
        return taken;
    }

    // Work of the host.

    /** Re-checks for cancellation: the call may have failed before there was anything to cancel. */
    private void lookAgain() {
        if (future.failure() != null) {
            abandon();
        }
    }

    private void startHostWork() {
        HostSpan span = program.memory().device().schedulingDomain().beginHostWork(terms.after());
        start(null, null, values -> finish(values, null, fence -> fence.signalOrFail(span.end())));
    }

    // Work of devices.

    /**
     * Delivers results before they have contents, since the caller has a fence. If {@code own} is a separate fence, the
     * code reaches {@code own}; the caller's fence is reached after a check of files in place.
     */
    private void promise(@Nullable Object[] values, Fence own, Fence done) {
        if (own != done) {
            lookBetween(own, done);
        }
        become(State.RETURNED, List.of(done));
        Ending ending = ending(values); // work in flight keeps the memory it needs
        if (ending.failure != null) {
            withdraw(ending.failure); // for example, abandoned after the call's last step
        }
        lastStep = this::leave;
        program.linger(this);
        ending.completion.run();
        done.whenReached(failure -> CallThreads.start("iree4j-end " + function.fullName(), () -> {
            if (failure != null) {
                withdraw(failure);
            }
            succeeded = failure == null;
            leaveEarly();
        }));
        done.release(); // the work keeps the fence now; after a failed call, fail() releases the fence
    }

    /** Reaches {@code done} once the code has reached {@code own} and the files used in place are found untouched. */
    private void lookBetween(Fence own, Fence done) {
        MemoryHolder before = holder.enter();
        try {
            program.memory()
                    .device()
                    .queue(0)
                    .hostCall(own, done, () -> program.inPlace.requireUnchangedSince(filesSeen()), 0);
        } catch (IreeException e) {
            done.fail(e);
        } finally {
            holder.leave(before);
        }
    }

    private void makeBetween(Fence done, Consumer<@Nullable Object[]> conclusion) {
        Fence wait = terms.after();
        if (!function.goesAhead) {
            makeAfter(() -> start(null, done, conclusion)); // fence reached: inputs are ready
        } else if (wait == null) {
            whenAdmitted(() -> start(null, done, conclusion));
        } else {
            whenAdmitted(() -> startAhead(wait, done, conclusion));
        }
    }

    /** Makes the call before the inputs have their contents; inputs in memory of other devices are copied first, in queue order. */
    private void startAhead(Fence wait, Fence done, Consumer<@Nullable Object[]> conclusion) {
        Fence copied = arguments.copyBehind(wait);
        if (copied != null) {
            ours.add(copied);
        }
        start(copied == null ? wait : copied, done, conclusion);
    }

    private void awaitContents(@Nullable Object[] values, Fence done) {
        become(State.RETURNED, List.of(done));
        waiting = done.whenReached(failure -> {
            future.conclude(
                    "iree4j-end " + function.fullName(), () -> finish(values, failure, _ -> {})); // no fence to signal
            workIsOver(failure == null);
        });
        lookAgain();
    }

    // The end.

    /** Fails the call, with the failure that the outcome was decided for before, if any. */
    private void fail(IreeException cause) {
        takeOurs().forEach(RefCounted::release);
        Ending ending = failing(cause);
        withdraw(ending.failure);
        conclude(ending, _ -> {});
    }

    /**
     * The end of a call.
     *
     * @param completion completes the future
     * @param failure the failure of the future; null for results
     */
    private record Ending(Runnable completion, @Nullable IreeException failure) {}

    private Ending failing(IreeException cause) {
        boolean isFirst = future.claim(cause);
        IreeException decided = isFirst ? cause : abandoned();
        return new Ending(isFirst ? () -> future.deliver(cause) : () -> {}, decided);
    }

    /** Converts the results for the receiver, if there still is a receiver. */
    private Ending ending(@Nullable Object[] values) {
        // END-4: even if the thread that ends late calls has not run.
        IreeException late = isLate() ? late() : null;
        if (late != null || !future.claim()) {
            ResultReader.free(values);
            return late != null ? failing(late) : new Ending(() -> {}, abandoned());
        }
        R made;
        try {
            made = results.apply(values);
        } catch (RuntimeException | Error e) {
            return new Ending(() -> future.deliver(e), IreeFuture.failureOf(e));
        }
        return new Ending(
                () -> {
                    if (!future.deliver(made)) {
                        discard.accept(made);
                    }
                },
                null);
    }

    /**
     * Delivers results with contents, and then reaches the fence to be signalled, if any. Fails the call if the work has
     * failed, or a file used in place by the program was touched during the call.
     */
    private void finish(@Nullable Object[] values, @Nullable IreeException failure, Consumer<Fence> reach) {
        IreeException cause = failure != null ? failure : program.inPlace.failureSince(filesSeen());
        if (cause != null) {
            ResultReader.free(values);
            fail(cause);
            return;
        }
        Ending ending = ending(values);
        succeeded = true;
        conclude(ending, reach);
    }

    /**
     * Releases the program, completes the future, and then reaches the fence, or fails the fence like the future. A call
     * with a fence lingers until the fence has ended: until then the list of calls has to show who will signal. Code of
     * the caller may run, or close the program, between the future and the fence. Closing then ends the fence, once the
     * future is complete. The fence of an abandoned call ends before the future completes.
     */
    private void conclude(Ending ending, Consumer<Fence> reach) {
        if (signal == null) {
            leave();
            ending.completion.run();
            return;
        }
        IreeException failure = ending.failure;
        Consumer<Fence> outcome = failure == null ? reach : fence -> fence.fail(failure);
        endBeforeSignal(); // keeps no turn, whatever the caller's code does now
        release();
        lastStep = () -> endFence(outcome);
        program.linger(this);
        ending.completion.run();
        endFence(outcome);
    }

    /** Ends the fence, and then takes the call off the list. Idempotent, on any thread. */
    private void endFence(Consumer<Fence> outcome) {
        Fence fence = signal;
        if (fence != null && hasEndedFence.compareAndSet(false, true)) {
            outcome.accept(fence);
            fence.release();
            leave();
        }
    }

    @Override
    void leaveEarly() {
        Runnable last = lastStep;
        future.whenComplete((_, _) -> last.run());
    }

    /** Idempotent, on any thread. */
    private void leave() {
        if (program.remove(this)) {
            release();
            program.exit();
        }
    }

    private void release() {
        timer.cancel();
        giveBack(succeeded);
        arguments.close();
    }

    /**
     * Gives memory back, ahead of the end of the call if the work has succeeded: the next call does not wait for the
     * thread that runs the end. Does not block, and runs no code of others.
     */
    private void workIsOver(boolean isDone) {
        if (isDone && program.inPlace.isEmpty()) { // otherwise the end may find that the work has not succeeded
            giveBack(true);
        }
    }

    /** Releases copies of inputs, and gives up the right to hold memory. Idempotent, on any thread. */
    private void giveBack(boolean hasSucceeded) {
        boolean held = HeldCallbacks.begin(); // so that the next call is made without the lock
        try {
            synchronized (arguments) {
                if (!hasGivenBack) {
                    hasGivenBack = true;
                    arguments.releaseCopies();
                    holder.end();
                    admitting.settle(hasSucceeded);
                }
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }
}
