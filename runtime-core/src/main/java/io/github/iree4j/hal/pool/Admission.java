package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.Fence;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A call's right to hold memory, until {@link #exit}. The right of a call that an {@link AdmissionGate} has not admitted
 * at once begins as a {@link PlaceInLine}. Safe from any thread.
 */
@NotForApplications
public sealed class Admission implements Cancellation permits PlaceInLine {
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

    private static final VarHandle STATE;
    private static final VarHandle HOLDER;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            STATE = lookup.findVarHandle(Admission.class, "state", int.class);
            HOLDER = lookup.findVarHandle(Admission.class, "holder", MemoryHolder.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final AdmissionGate gate;
    final @Nullable Share quota;
    final MemoryEstimate estimate;

    @SuppressWarnings("FieldMayBeFinal") // written through STATE
    private volatile int state; // at first WAITING, without a write

    private volatile @Nullable MemoryHolder holder; // written through HOLDER

    /** The call's admission by another gate; written before this admission is in the holder's list. */
    @Nullable
    Admission next;

    private long committed; // guarded by the lock of the gate once shared

    Admission(AdmissionGate gate, @Nullable Share quota, MemoryEstimate estimate) {
        this.gate = gate;
        this.quota = quota;
        this.estimate = estimate;
    }

    /**
     * Returns whether the call has been admitted.
     *
     * @return whether the call has been admitted; once true, true until the call leaves
     */
    public final boolean isAdmitted() {
        return state == ADMITTED;
    }

    final boolean isWaiting() {
        return state == WAITING;
    }

    final boolean isOver() {
        return state == LEFT;
    }

    /** Records the call. */
    final void heldBy(MemoryHolder call) {
        HOLDER.setRelease(this, call);
    }

    /** The most memory held by the call so far; 0 while unknown. */
    final long peak() {
        MemoryHolder call = holder;
        return call == null ? 0 : call.peak(gate);
    }

    /** Bytes held in a set by the call and the calls made by the call. Under the lock of the set. */
    final long held(PoolSet set) {
        MemoryHolder call = holder;
        Holding holding = call == null ? null : call.knownHoldingIn(set);
        return holding == null ? 0 : holding.whole();
    }

    /** Records a smaller commitment from now on. Under the lock of the gate. */
    final void shrink(long bytes) {
        committed = bytes;
    }

    /** Records the commitment; returns false for a call admitted before. Under the lock of the gate, or before this object is shared. */
    final boolean commit(long bytes) {
        committed = bytes;
        return STATE.compareAndSet(this, WAITING, ADMITTED);
    }

    final long committed() {
        return committed;
    }

    /** Bytes committed while only the inputs are committed; 0 for a call with its whole need committed, and for a call not yet admitted. */
    long inputs() {
        return 0;
    }

    /**
     * Returns whether the call's requests may be granted memory in queue order: not between the moment when the fence
     * is reached and the commitment of the whole need.
     *
     * @return whether memory may be granted; true again at the latest when the line's patience has ended
     */
    public boolean mayHold() {
        return true;
    }

    boolean isShort() {
        return false;
    }

    /**
     * Runs an action as soon as {@link #mayHold} is true again.
     *
     * @param action run on a separate thread; not run if the call leaves the gate before
     * @return false if {@link #mayHold} is true now; the action will not be run
     */
    public boolean whenMayHold(Runnable action) {
        return false;
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
        return Awaited.NOTHING;
    }

    /**
     * Blocks until the call is admitted, or has left the line. For the thread that joined the line.
     *
     * @return whether the call is admitted
     * @throws InterruptedException when the thread is interrupted before; the call has then left
     */
    public boolean await() throws InterruptedException {
        return isAdmitted();
    }

    /** Leaves the line; returns false when the call has been admitted or has left. */
    @Override
    public boolean cancel() {
        return false;
    }

    final boolean leave(boolean fromLine) {
        return STATE.compareAndSet(this, fromLine ? WAITING : ADMITTED, LEFT);
    }

    /**
     * Begins the wait for the fence of a call that is ahead; a call that has left stops waiting. Called once.
     *
     * @param before the fence
     */
    public void dueAt(Fence before) {}

    /** Records that the fence of a call that is ahead has been reached: its work may begin, and the whole need counts as soon as there is room. */
    void due() {}

    /** Gives up the right to hold memory; the call no longer holds any. Idempotent. */
    public final void exit() {
        if (leave(false)) { // GATE-2
            left();
            gate.exit(this);
        }
    }

    /** Ends the waits of a call that has given up its right. */
    void left() {}
}
