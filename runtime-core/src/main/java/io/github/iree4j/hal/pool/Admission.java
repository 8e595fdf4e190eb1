package io.github.iree4j.hal.pool;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.Fence;
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
     *   ADMITTED  what it needs is committed    written under the lock of the gate, or before other threads know it
     *   LEFT      has left the line, or the gate
     */
    private static final int WAITING = 0;
    private static final int ADMITTED = 1;
    private static final int LEFT = 2;

    final AdmissionGate gate;
    final @Nullable Share quota;
    final MemoryEstimate estimate;
    final long since; // the clock's nanoseconds
    private final @Nullable Thread waiter;
    private final @Nullable Consumer<Admission> told;
    private final boolean isPlain; // it never was ahead of a fence
    private final AtomicInteger state = new AtomicInteger(WAITING);
    private volatile Cancellation waitForFence = Cancellation.OVER;

    // Guarded by the lock of the gate once other threads know it.
    boolean isAhead; // of its fence: it is not ready to run
    private long inputs; // committed while it is ahead
    private long committed;
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

    /** Notes that what the call needs is committed. */
    void admitted(long bytes) {
        committed = bytes;
        inputs = isAhead ? bytes : 0;
        state.set(ADMITTED);
        if (told != null) {
            told.accept(this);
        }
        LockSupport.unpark(waiter);
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
    public void dueAt(Fence fence) {
        waitForFence = fence.whenReached(_ -> due());
        if (state.get() == LEFT) {
            waitForFence.cancel();
        }
    }

    /** Notes that the fence of a call that is ahead has been reached: its work may begin, and counts with all that it needs. */
    void due() {
        gate.due(this);
    }

    /** Notes that all that it needs is committed. Under the lock of the gate. */
    void grown(long whole) {
        committed = whole;
        inputs = 0;
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

    /** What is committed ahead of its fence; 0 for a call that is ready. */
    long inputs() {
        return inputs;
    }

    /** Whether nothing of it changes while it is admitted. */
    boolean isPlain() {
        return isPlain;
    }
}
