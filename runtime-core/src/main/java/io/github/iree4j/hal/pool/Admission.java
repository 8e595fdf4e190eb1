package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.Fence;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The place of a call in the line of an {@link AdmissionGate}, and then the call's right to hold memory, until {@link
 * #exit}. Safe from any thread.
 */
@NotForApplications
public final class Admission implements Cancellation {
    /*
     * STATE
     *   WAITING   in line
     *   ADMITTED  the whole need is committed; or the inputs, while the call is ahead of its fence or short of the rest
     *   LEFT      the call has left the line, or the gate
     * ADMITTED is written under the lock of the gate, or before the admission is shared.
     */
    private static final int WAITING = 0;
    private static final int ADMITTED = 1;
    private static final int LEFT = 2;

    final AdmissionGate gate;
    final String order; // the consumer whose calls keep their order; empty for none
    final @Nullable Share quota;
    final MemoryEstimate estimate;
    final long since; // start of the wait, in nanoseconds of the clock
    long readySince; // start of the wait after the fence was reached, likewise; guarded by the lock of the gate
    private final @Nullable Thread waiter;
    private final @Nullable Consumer<Admission> told;
    private boolean isPlain; // whether the call was never ahead of a fence, nor alone; written before the admission
    private final AtomicInteger state = new AtomicInteger(WAITING);
    // whether the inputs are committed and the call stands in line for the rest of its need
    private volatile boolean isShort;
    // whether the sleeping thread has been woken, and will see whether there is still room; written under the lock of
    // the gate
    private volatile boolean isCalled;
    private volatile Cancellation waitForFence = Cancellation.OVER;
    // the fence ahead of which the call was admitted; only tested for being reached, so not retained
    private volatile @Nullable Fence fence;
    private volatile @Nullable MemoryHolder holder;

    // Guarded by the lock of the gate once shared.
    boolean isAhead; // whether the call is ahead of its fence: not ready to run
    private final List<Runnable> held = new ArrayList<>(0); // actions held until the whole need is committed
    private long inputs; // bytes committed while only the inputs are committed
    private long committed;
    long aloneSince; // start of the call's solitude, in nanoseconds of the clock
    long offered; // bytes committed during a look that calls the thread
    int overtakings; // number of calls that overtook this call while first in line
    long overtaken; // bytes needed by the overtaking calls

    Admission(
            AdmissionGate gate,
            String order,
            @Nullable Share quota,
            MemoryEstimate estimate,
            boolean isAhead,
            long since,
            @Nullable Thread waiter,
            @Nullable Consumer<Admission> told) {
        this.gate = gate;
        this.order = order;
        this.quota = quota;
        this.estimate = estimate;
        this.isAhead = isAhead;
        this.isPlain = !isAhead;
        this.since = since;
        this.readySince = since;
        this.waiter = waiter;
        this.told = told;
    }

    /**
     * Returns whether the call has been admitted.
     *
     * @return whether the call has been admitted; once true, true until the call leaves
     */
    public boolean isAdmitted() {
        return state.get() == ADMITTED;
    }

    boolean isWaiting() {
        return state.get() == WAITING;
    }

    boolean isOver() {
        return state.get() == LEFT;
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

    /** Records the call. */
    void heldBy(MemoryHolder call) {
        holder = call;
    }

    /** The most memory held by the call so far; 0 while unknown. */
    long peak() {
        MemoryHolder call = holder;
        return call == null ? 0 : call.peak(gate);
    }

    /** Bytes held in a set by the call and the calls made by the call. Under the lock of the set. */
    long held(PoolSet set) {
        MemoryHolder call = holder;
        Holding holding = call == null ? null : call.knownHoldingIn(set);
        return holding == null ? 0 : holding.whole();
    }

    /** Records the commitment of all memory that the call may hold, until {@link #shrink}. Called before the admission. */
    void alone(long now) {
        isPlain = false;
        aloneSince = now;
    }

    /** Records a smaller commitment from now on. Under the lock of the gate. */
    void shrink(long bytes) {
        committed = bytes;
    }

    /** Records the commitment of the call's need, or of the inputs while the call is ahead. Under the lock of the gate. */
    void admitted(long bytes) {
        committed = bytes;
        inputs = isAhead ? bytes : 0;
        isShort = false;
        if (!held.isEmpty()) {
            List<Runnable> free = List.copyOf(held);
            held.clear();
            CallThreads.start("iree4j-memory", () -> free.forEach(Runnable::run));
        }
        if (state.compareAndSet(WAITING, ADMITTED)) {
            if (told != null) {
                told.accept(this);
            }
            LockSupport.unpark(waiter);
        }
    }

    /**
     * Returns whether the call's requests may be granted memory in queue order: not between the moment when the fence
     * is reached and the commitment of the whole need.
     *
     * @return whether memory may be granted; true again at the latest when the line's patience has ended
     */
    public boolean mayHold() {
        Fence before = fence;
        if (before != null && before.isReached()) {
            gate.due(this); // GATE-3: this thread may be faster than the fence's notification
        }
        return !isShort;
    }

    boolean isShort() {
        return isShort;
    }

    /** GATE-5: whether this call, whose fence has been reached, stands in line before another call. Under the lock of the gate. */
    boolean isBefore(Admission other) {
        return isShort == other.isShort ? since <= other.since : isShort;
    }

    /**
     * Runs an action as soon as {@link #mayHold} is true again.
     *
     * @param action run on a separate thread; not run if the call leaves the gate before
     * @return false if {@link #mayHold} is true now; the action will not be run
     */
    public boolean whenMayHold(Runnable action) {
        synchronized (gate.lock) {
            return isShort && isAdmitted() && held.add(action);
        }
    }

    /** What a call waits for before being admitted. */
    public enum Awaited {
        /** The call has been admitted. */
        NOTHING,
        /** The call's need is unknown: the call waits until no other call runs, or for the call's fence. */
        SOLITUDE,
        /** Room for the call's need. */
        ROOM
    }

    /**
     * Returns what the call waits for.
     *
     * @return what the call waits for at one moment; for a call that left the line, what the call would wait for
     */
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

    /**
     * Blocks until the call is admitted, or has left the line. For the thread that joined the line.
     *
     * @return whether the call is admitted
     * @throws InterruptedException when the thread is interrupted before; the call has then left
     */
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

    /** Leaves the line; returns false when the call has been admitted or has left. */
    @Override
    public boolean cancel() {
        if (!gate.leave(this)) {
            return false;
        }
        waitForFence.cancel();
        LockSupport.unpark(waiter);
        return true;
    }

    boolean leave(boolean fromLine) {
        return state.compareAndSet(fromLine ? WAITING : ADMITTED, LEFT);
    }

    /** Begins the wait for the fence of a call that is ahead; a call that has left stops waiting. Called once. */
    public void dueAt(Fence before) {
        fence = before;
        waitForFence = before.whenReached(_ -> due());
        if (state.get() == LEFT) {
            waitForFence.cancel();
        }
    }

    /** Records that the fence of a call that is ahead has been reached: its work may begin, and the whole need counts as soon as there is room. */
    void due() {
        gate.due(this);
    }

    /** Gives up the right to hold memory; the call no longer holds any. Idempotent. */
    public void exit() {
        if (leave(false)) { // GATE-2
            waitForFence.cancel();
            gate.exit(this);
        }
    }

    long committed() {
        return committed;
    }

    /** Bytes committed while only the inputs are committed; 0 for a call with its whole need committed, and for a call not yet admitted. */
    long inputs() {
        return inputs;
    }

    /** Whether the admission does not change before the exit. Called after the admission. */
    boolean isPlain() {
        return isPlain;
    }
}
