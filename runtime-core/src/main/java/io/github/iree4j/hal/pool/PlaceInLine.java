package io.github.iree4j.hal.pool;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.Fence;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The place of a call in the line of an {@link AdmissionGate}, and then the call's right to hold memory. Safe from any thread. */
final class PlaceInLine extends Admission {
    final String order; // the consumer whose calls keep their order; empty for none
    final long since; // start of the wait, in nanoseconds of the clock
    long readySince; // start of the wait after the fence was reached, likewise; guarded by the lock of the gate
    private final @Nullable Thread waiter;
    private @Nullable Consumer<Admission> told; // until the admission; guarded by the lock of the gate once shared
    private boolean isPlain; // whether the call was never ahead of a fence, nor alone; written before the admission
    // whether the inputs are committed and the call stands in line for the rest of its need
    private volatile boolean isShort;
    // whether the sleeping thread has been woken, and will see whether there is still room; written under the lock of
    // the gate
    private volatile boolean isCalled;
    private volatile Cancellation waitForFence = Cancellation.OVER;
    // the fence ahead of which the call was admitted; only tested for being reached, so not retained
    private volatile @Nullable Fence fence;

    // Guarded by the lock of the gate once shared.
    boolean isAhead; // whether the call is ahead of its fence: not ready to run
    private final List<Runnable> held = new ArrayList<>(0); // actions held until the whole need is committed
    private long inputs; // bytes committed while only the inputs are committed
    long aloneSince; // start of the call's solitude, in nanoseconds of the clock
    long offered; // bytes committed during a look that calls the thread
    int overtakings; // number of calls that overtook this call while first in line
    long overtaken; // bytes needed by the overtaking calls

    PlaceInLine(
            AdmissionGate gate,
            String order,
            @Nullable Share quota,
            MemoryEstimate estimate,
            boolean isAhead,
            long since,
            @Nullable Thread waiter,
            @Nullable Consumer<Admission> told) {
        super(gate, quota, estimate);
        this.order = order;
        this.isAhead = isAhead;
        this.isPlain = !isAhead;
        this.since = since;
        this.readySince = since;
        this.waiter = waiter;
        this.told = told;
    }

    /** Whether the call's thread sleeps, so that another thread decides about the call. */
    boolean isAsleep() {
        return waiter != null && !waiter.equals(Thread.currentThread());
    }

    /** Records that another call overtakes this one, the first in line. Under the lock of the gate. */
    void isOvertakenBy(long bytes) {
        overtakings++;
        overtaken += bytes;
    }

    /** Whether the thread of the waiting call has been called, and has not come yet. */
    boolean isCalled() {
        return isCalled;
    }

    /** GATE-4: wakes the sleeping thread to take the room, unless the thread has been called already. Under the lock of the gate. */
    void call() {
        if (!isCalled) {
            isCalled = true;
            LockSupport.unpark(waiter);
        }
    }

    /** Records that the thread looks at the room. Under the lock of the gate. */
    void comes() {
        isCalled = false;
    }

    /** Records the commitment of all memory that the call may hold, until {@link #shrink}. Called before the admission. */
    void alone(long now) {
        isPlain = false;
        aloneSince = now;
    }

    /** Records the commitment of the call's need, or of the inputs while the call is ahead. Under the lock of the gate. */
    void admitted(long bytes) {
        inputs = isAhead ? bytes : 0;
        isShort = false;
        if (!held.isEmpty()) {
            List<Runnable> free = List.copyOf(held);
            held.clear();
            CallThreads.start("iree4j-memory", () -> free.forEach(Runnable::run));
        }
        if (commit(bytes)) {
            if (told != null) {
                told.accept(this);
                told = null; // the holder of memory in results refers to this place, which must not refer to the call
            }
            LockSupport.unpark(waiter);
        }
    }

    @Override
    public boolean mayHold() {
        Fence before = fence;
        if (before != null && before.isReached()) {
            gate.due(this); // GATE-3: this thread may be faster than the fence's notification
        }
        return !isShort;
    }

    @Override
    boolean isShort() {
        return isShort;
    }

    /** GATE-5: whether this call, whose fence has been reached, stands in line before another call. Under the lock of the gate. */
    boolean isBefore(PlaceInLine other) {
        return isShort == other.isShort ? since <= other.since : isShort;
    }

    @Override
    public boolean whenMayHold(Runnable action) {
        synchronized (gate.lock) {
            return isShort && isAdmitted() && held.add(action);
        }
    }

    @Override
    public Awaited awaited() {
        synchronized (gate.lock) {
            return isAdmitted() ? Awaited.NOTHING : gate.isHeldAsUnknown(this) ? Awaited.SOLITUDE : Awaited.ROOM;
        }
    }

    /** Records the reached fence: from now on the whole need counts. Under the lock of the gate. */
    void ready(long now) {
        isAhead = false;
        readySince = now;
        fence = null;
        isShort = isAdmitted();
    }

    @Override
    public boolean await() throws InterruptedException {
        while (isWaiting()) {
            if (Thread.interrupted()) {
                if (!cancel()) {
                    exit();
                }
                throw new InterruptedException();
            }
            if (isCalled) {
                gate.comes(this);
            } else {
                LockSupport.park(this);
            }
        }
        return isAdmitted();
    }

    @Override
    public boolean cancel() {
        if (!gate.leave(this)) {
            return false;
        }
        waitForFence.cancel();
        LockSupport.unpark(waiter);
        return true;
    }

    @Override
    public void dueAt(Fence before) {
        fence = before;
        waitForFence = before.whenReached(_ -> due());
        if (isOver()) {
            waitForFence.cancel();
        }
    }

    @Override
    void due() {
        gate.due(this);
    }

    @Override
    void left() {
        waitForFence.cancel();
    }

    @Override
    long inputs() {
        return inputs;
    }

    /** Whether the admission does not change before the exit. Called after the admission. */
    boolean isPlain() {
        return isPlain;
    }
}
