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
abstract sealed class AsyncCall extends Call permits SubmittedCall {
    /** The action after a step. */
    enum Progress {
        /** Wait until the runner is woken. The wake-up may have happened already. */
        WAITING,
        /** Take another step; other work may go first. */
        AGAIN,
        /** The call is past its turn. */
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

    private final ProgramLock.Place turn;
    /** Set once the call can be woken. */
    private volatile @Nullable Runnable runner;

    volatile @Nullable Throwable failure; // of the code; set without the turn when the call is cancelled in line

    // Owned by the runner.
    private long inLineSince;
    private volatile boolean waits;
    private @Nullable VmWait wait;
    private @Nullable WakeUp wakeUp;

    AsyncCall(ProgramCalls program, FunctionCalls function, ArgumentList arguments, int priority) {
        super(program, function, arguments, false);
        this.turn = new ProgramLock.Place(priority) {
            @Override
            void granted() {
                wake();
            }
        };
    }

    /** Whether the call no longer needs the turn. Called by the holder of the turn, who therefore sees the values set in the turn. */
    final boolean isPastTurn() {
        return values() != null || failure != null;
    }

    /**
     * Takes a place in line, behind all calls that were started before.
     *
     * @param waker ensures that a step begins after the call; called from any thread, any number of times; MUST only
     *     start work
     */
    final void lineUp(Runnable waker) {
        runner = waker;
        lineUp();
        onCancel(this::wake);
    }

    private void lineUp() {
        inLineSince = System.nanoTime();
        program.lock.join(turn);
        waits = !turn.isGiven(); // a step that finds the turn given before has not waited
    }

    private void wake() {
        Runnable waker = runner;
        if (waker != null) {
            waker.run();
        }
    }

    /** Runs as far as possible without waiting. */
    final Progress step() {
        if (runner == null) {
            return Progress.WAITING; // not started yet
        }
        if (isPastTurn()) {
            return Progress.OVER;
        }
        VmWait pending = wait;
        if (pending != null) {
            if (!pending.isReady() && !isCancelled()) {
                return Progress.WAITING;
            }
            forgetWait();
            become(State.IN_LINE);
            if (program.overlaps) {
                lineUp();
            }
        }
        if (!turn.isGiven()) {
            // A call that has begun must be abandoned in the program's turn.
            if (hasBegun() || !isCancelled() || !program.lock.leave(turn)) {
                return turn.isGiven() ? Progress.AGAIN : Progress.WAITING;
            }
            failure = program.cancelled(function.fullName());
            return Progress.OVER;
        }
        if (waits) {
            waits = false; // where calls do not overlap, the turn stays given
            program.leftLine(inLineSince);
        }
        return run();
    }

    /** Runs in the program's turn. */
    private Progress run() {
        runs();
        try {
            if (!advance()) {
                return waitFor(suspends());
            }
        } catch (Throwable e) { // of any kind: waiters must be notified
            failure = e;
        }
        end();
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
