package io.github.iree4j.hal.pool;

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
 * The place of one call in the line of an {@link AdmissionGate}, and then its right to hold memory, until {@link #exit}. Safe from any
 * thread.
 */
public final class Admission implements Cancellation {
    /*
     * STATE
     *   WAITING   in line
     *   ADMITTED  what it needs is committed; or its inputs, while it is ahead of its fence, and while it is short of the rest
     *   LEFT      has left the line, or the gate
     * ADMITTED is written under the lock of the gate, or before other threads know it.
     */
    private static final int WAITING = 0;
    private static final int ADMITTED = 1;
    private static final int LEFT = 2;

    final AdmissionGate gate;
    final @Nullable Share quota;
    final MemoryEstimate estimate;
    final long since; // the clock's nanoseconds
    long readySince; // the same, from its fence on; guarded by the lock of the gate
    private final @Nullable Thread waiter;
    private final @Nullable Consumer<Admission> told;
    private boolean isPlain; // it never was ahead of a fence, nor alone; written before it is admitted
    private final AtomicInteger state = new AtomicInteger(WAITING);
    private volatile boolean isShort; // its inputs are committed, and it stands in line for the rest of its need
    private volatile Cancellation waitForFence = Cancellation.OVER;
    private volatile @Nullable Fence fence; // that it is ahead of; only asked whether it is reached, so not retained
    private volatile @Nullable MemoryHolder holder;

    // Guarded by the lock of the gate once other threads know it.
    boolean isAhead; // of its fence: it is not ready to run
    private final List<Runnable> held = new ArrayList<>(0); // until it is whole
    private long inputs; // committed while nothing else is
    private long committed;
    long aloneSince; // the clock's nanoseconds
    int overtakings; // calls that went past while it was the first in line
    long overtaken; // bytes that they needed

    Admission(
            AdmissionGate gate,
            @Nullable Share quota,
            MemoryEstimate estimate,
            boolean isAhead,
            long since,
            @Nullable Thread waiter,
            @Nullable Consumer<Admission> told) {
        this.gate = gate;
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
     * @return once true it stays so until the call leaves
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

    /** Notes the call. */
    void heldBy(MemoryHolder call) {
        holder = call;
    }

    /** The most that the call has held so far; 0 while that is not known. */
    long peak() {
        MemoryHolder call = holder;
        return call == null ? 0 : call.peak(gate);
    }

    /** Notes that all is committed that it may hold, until {@link #shrink}. Before it is admitted. */
    void alone(long now) {
        isPlain = false;
        aloneSince = now;
    }

    /** Notes that less is committed from now on. Under the lock of the gate. */
    void shrink(long bytes) {
        committed = bytes;
    }

    /** Notes that what the call needs is committed, or its inputs while it is ahead. Under the lock of the gate. */
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
     * Returns whether the call's requests may be granted memory in queue order: not from the moment at which its fence is reached until its
     * whole need is committed.
     *
     * @return true again at the latest when the line's patience has ended
     */
    public boolean mayHold() {
        Fence before = fence;
        if (before != null && before.isReached()) {
            gate.due(this); // GATE-3: this thread may be faster than the one that says so
        }
        return !isShort;
    }

    boolean isShort() {
        return isShort;
    }

    /**
     * Runs an action as soon as {@link #mayHold} is true again.
     *
     * @param action run on a thread of its own; not run if the call leaves the gate before
     * @return false if it is true now, and the action will not be run
     */
    public boolean whenMayHold(Runnable action) {
        return gate.whenWhole(this, action);
    }

    /** Notes that its fence is reached, so that its whole need counts. Under the lock of the gate. */
    void ready(long now) {
        isAhead = false;
        readySince = now;
        fence = null;
        isShort = isAdmitted();
    }

    /** Under the lock of the gate. */
    boolean whenWhole(Runnable action) {
        return isShort && isAdmitted() && held.add(action);
    }

    /**
     * Blocks until the call is admitted, or has left the line. For the thread that asked.
     *
     * @return whether it is admitted
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
            LockSupport.park(this);
        }
        return isAdmitted();
    }

    /** Leaves the line; false when the call has been admitted or has left. */
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

    /** Waits until the fence of a call that is ahead has been reached; a call that has left no longer waits for it. Called once. */
    public void dueAt(Fence before) {
        fence = before;
        waitForFence = before.whenReached(_ -> due());
        if (state.get() == LEFT) {
            waitForFence.cancel();
        }
    }

    /** Notes that the fence of a call that is ahead has been reached: its work may begin, and counts with all that it needs as soon as there is room. */
    void due() {
        gate.due(this);
    }

    /** Gives up the right to hold memory, which the call no longer holds. Idempotent. */
    public void exit() {
        if (leave(false)) { // GATE-2
            waitForFence.cancel();
            gate.exit(this);
        }
    }

    long committed() {
        return committed;
    }

    /** What is committed while nothing else is; 0 for a call whose whole need is, and for one that has not been admitted. */
    long inputs() {
        return inputs;
    }

    /** Whether nothing of it changes while it is admitted. Once it is. */
    boolean isPlain() {
        return isPlain;
    }
}
