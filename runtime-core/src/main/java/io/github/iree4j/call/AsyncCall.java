package io.github.iree4j.call;

import io.github.iree4j.vm.VmWait;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A call running in steps without a thread between the steps: waits in line for the program's turn, runs until a wait
 * is necessary, and continues after the wait. An event only wakes the runner.
 *
 * <p>The runner takes the steps one after the other. Cancelling the call wakes the runner as well.
 */
final class AsyncCall extends ProgramLock.Place {
    /** The action after a step. */
    enum Progress {
        /** Wait until the runner is woken. The wake-up may have happened already. */
        WAITING,
        /** Take another step; other work may go first. */
        AGAIN,
        /** The call {@linkplain SubmittedCall#isPastTurn is past} its turn. */
        OVER
    }

    /** May outlive the call if the awaited object does, and then keeps nothing reachable. */
    private static final class WakeUp extends AtomicReference<@Nullable AsyncCall> implements Runnable {
        private static final long serialVersionUID = 1;

        WakeUp(AsyncCall call) {
            super(call);
        }

        @Override
        public void run() {
            AsyncCall call = get();
            if (call != null) {
                call.wake();
            }
        }
    }

    private final SubmittedCall<?> call;
    /** Set on start. */
    private volatile @Nullable Runnable runner;

    // Owned by the runner.
    private boolean isInLine = true;
    private long since; // in line
    private volatile boolean waits;
    private @Nullable VmWait wait;
    private @Nullable WakeUp wakeUp;

    /** Takes ownership of nothing yet. */
    AsyncCall(SubmittedCall<?> call, int priority) {
        super(priority);
        this.call = call;
    }

    /**
     * Takes a place in line, behind all calls that were started before.
     *
     * @param waker ensures that a step begins after the call; called from any thread, any number of times; MUST only
     *     start work
     */
    void start(Runnable waker) {
        runner = waker;
        lineUp();
        call.onCancel(this::wake);
    }

    private void lineUp() {
        since = System.nanoTime();
        call.program.lock.join(this);
        waits = !isGiven(); // a step that finds the place given before has not waited
    }

    @Override
    void granted() {
        wake();
    }

    SubmittedCall<?> call() {
        return call;
    }

    private void wake() {
        Runnable waker = runner;
        if (waker != null) {
            waker.run();
        }
    }

    /** Runs as far as possible without waiting. */
    Progress step() {
        if (runner == null) {
            return Progress.WAITING; // not started yet
        }
        if (call.isPastTurn()) {
            return Progress.OVER;
        }
        VmWait pending = wait;
        if (pending != null) {
            if (!pending.isReady() && !call.isCancelled()) {
                return Progress.WAITING;
            }
            forgetWait();
            call.inLine();
            if (call.program.overlaps) {
                isInLine = true;
                lineUp();
            }
        }
        if (isInLine) {
            if (!isGiven()) {
                // A call that has begun must be abandoned in the program's turn.
                if (call.hasBegun() || !call.isCancelled() || !call.program.lock.leave(this)) {
                    return isGiven() ? Progress.AGAIN : Progress.WAITING;
                }
                call.fails(call.program.cancelled(call.function.fullName()));
                return Progress.OVER;
            }
            isInLine = false;
            if (waits) {
                call.program.leftLine(since);
            }
        }
        return run();
    }

    /** Runs in the program's turn. */
    private Progress run() {
        call.runs();
        try {
            if (!call.advance()) {
                return waitFor(call.suspends());
            }
        } catch (Throwable e) { // of any kind: waiters must be notified
            call.fails(e);
        }
        call.end();
        return Progress.OVER;
    }

    private Progress waitFor(VmWait pending) {
        WakeUp up = new WakeUp(this);
        wait = pending;
        wakeUp = up;
        if (pending.isReady()) {
            return Progress.AGAIN;
        }
        pending.whenReady(up);
        return Progress.WAITING;
    }

    private void forgetWait() {
        wait = null;
        WakeUp up = wakeUp;
        if (up != null) {
            up.set(null);
            wakeUp = null;
        }
    }
}
