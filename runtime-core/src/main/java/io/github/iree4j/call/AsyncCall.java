package io.github.iree4j.call;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmWait;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A call that is made a step at a time, and between steps occupies no thread: it waits in line for its program's turn, runs until it
 * waits for something, and goes on when that is ready. Whatever it waits for only wakes its runner.
 *
 * <p>Steps are taken one after the other, by the runner. Cancelling the call wakes it as well.
 */
final class AsyncCall {
    /** What comes after a step. */
    enum Progress {
        /** Nothing until the runner is woken, which may have happened already. */
        WAITING,
        /** Another step; others may go first. */
        AGAIN,
        /** The call has ended: {@link #values} or {@link #failure}. */
        OVER
    }

    private final class Place extends ProgramLock.Place {
        Place() {
            super(priority);
        }

        @Override
        void tell() {
            wake();
        }
    }

    /** Outlives the call where what it waited for does, and then holds on to nothing. */
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

    private final ProgramLock lock;
    private final boolean keepsLock;
    private final int priority;
    private final ProgramCall steps;
    /** Set when it is started, after the first place. */
    private volatile @Nullable Runnable runner;

    // Of whoever takes the steps.
    private @Nullable Place place;
    private @Nullable VmWait wait;
    private @Nullable WakeUp wakeUp;
    private boolean begun;
    private boolean holdsLock;
    private boolean over;
    private @Nullable Object @Nullable [] values;
    private volatile @Nullable Throwable failure; // of a call that is cancelled in line, without the turn

    /** Takes nothing over yet. */
    AsyncCall(ProgramCalls program, ProgramCall steps, int priority) {
        this.lock = program.lock();
        this.priority = priority;
        this.keepsLock = !program.overlaps();
        this.steps = steps;
    }

    /**
     * Takes a place in line, behind all calls that were started before.
     *
     * @param waker sees to it that a step begins after it was called; it is from any thread, as often as somebody likes, and only starts
     *     something
     */
    void start(Runnable waker) {
        Place first = new Place();
        place = first;
        runner = waker;
        lock.join(first);
        steps.call().onCancel(this::wake);
    }

    Call call() {
        return steps.call();
    }

    private void wake() {
        Runnable waker = runner;
        if (waker != null) {
            waker.run();
        }
    }

    /** Does what can be done without waiting. */
    Progress step() {
        if (runner == null) {
            return Progress.WAITING; // to be started
        }
        if (over) {
            return Progress.OVER;
        }
        VmWait pending = wait;
        if (pending != null) {
            if (!pending.isReady() && !call().isCancelled()) {
                return Progress.WAITING;
            }
            forgetWait();
            call().inLine();
            if (!holdsLock) {
                Place again = new Place();
                place = again;
                lock.join(again);
            }
        }
        Place mine = place;
        if (mine != null) {
            if (!mine.isGiven()) {
                // One that has begun has to be given up in its turn.
                if (begun || !call().isCancelled() || !lock.leave(mine)) {
                    return mine.isGiven() ? Progress.AGAIN : Progress.WAITING;
                }
                over = true;
                failure = new IreeException(
                        StatusCode.CANCELLED,
                        "call of '%s' was cancelled".formatted(steps.function().fullName()));
                return Progress.OVER;
            }
            place = null;
            holdsLock = true;
        }
        return run();
    }

    /** In turn. */
    private Progress run() {
        lock.run();
        call().runs();
        try {
            boolean over = begun ? steps.resume() : begin();
            if (!over) {
                return waitFor(steps.pendingWait());
            }
            values = steps.takeValues();
        } catch (Throwable e) { // whatever it is, those who wait must hear of it
            failure = e;
        }
        over = true;
        steps.end();
        holdsLock = false;
        lock.release();
        return Progress.OVER;
    }

    private boolean begin() {
        begun = true;
        return steps.begin();
    }

    private Progress waitFor(VmWait pending) {
        if (keepsLock) {
            lock.pause();
        } else {
            holdsLock = false;
            lock.release();
        }
        WakeUp up = new WakeUp(this);
        wait = pending;
        wakeUp = up;
        call().suspendedBy(pending);
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

    /** Whether it needs the turn no more. For whoever has the turn, and so sees what was returned in it. */
    boolean isPastTurn() {
        return values != null || failure != null;
    }

    /** What it returned, to be freed by the caller; null when it failed. After the last step. */
    @Nullable
    Object @Nullable [] values() {
        return values;
    }

    /** What it failed with; null when it did not. After the last step. */
    @Nullable
    Throwable failure() {
        return failure;
    }
}
