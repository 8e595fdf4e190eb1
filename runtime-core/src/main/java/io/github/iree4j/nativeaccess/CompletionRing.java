package io.github.iree4j.nativeaccess;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.lifetime.UseGuard;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.time.Duration;

/**
 * How threads of drivers tell Java that operations have ended, without calling it: they push 16-byte records to a ring in native
 * memory, one Java thread takes them out.
 *
 * <p>{@link #poll} reads the ring directly, without a native call; {@link #await} sleeps until there is something to read. Both
 * belong to one thread at a time, a platform thread for {@code await}. {@link #push} and {@link #wake} may be called by anyone.
 *
 * <p>A record that finds the ring full is lost, which {@link #isLossy} then says for good. To rule that out, reserve a place before
 * submitting the operation that will push.
 */
public final class CompletionRing extends Resource {
    /*
     * The layout and protocol are those of native-shim/src/shim_ring.c. A slot whose sequence is head + 1 holds the record of
     * position head; storing head + capacity gives it back to the producers. The acquire load of the sequence makes the
     * record, and all that its producer wrote before pushing, visible here; the release store keeps our reads of the record before
     * the next producer's writes.
     */
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    /** Receives what {@link #poll} takes out. */
    @FunctionalInterface
    public interface Consumer {
        /**
         * Called once per record, in the order of publication, on the polling thread. MUST NOT poll or close the ring.
         *
         * @param token what the submitter chose
         * @param status canonical number of the outcome
         * @param nativeCode the driver's own number
         */
        void completed(long token, int status, int nativeCode);
    }

    private final long handle;
    private final int capacity;
    private final MemorySegment memory;
    private final UseGuard guard;

    @SuppressWarnings("restricted") // memory that C allocated
    private CompletionRing(long handle, int capacity) {
        this.handle = handle;
        this.capacity = capacity;
        this.guard = new UseGuard(this::describe, () -> Shim.ringRelease(handle));
        this.memory =
                MemorySegment.ofAddress(handle).reinterpret(Shim.RING_SLOTS + (long) capacity * Shim.RING_SLOT_SIZE);
    }

    /**
     * Creates a ring. The caller closes it, when no driver can push to it any more.
     *
     * @param capacity number of records, a power of two from 2 to 1,048,576
     * @return the ring
     * @throws IreeException INVALID_ARGUMENT for another capacity, RESOURCE_EXHAUSTED without memory or descriptors, UNAVAILABLE
     *     without the native library
     */
    public static CompletionRing create(int capacity) {
        NativeLibrary.ensureAvailable();
        NativeError error = new NativeError();
        long handle = Shim.ringCreate(capacity, error.address());
        if (handle == 0) {
            throw error.toException();
        }
        Reference.reachabilityFence(error);
        return new CompletionRing(handle, capacity);
    }

    /**
     * Returns how many records fit.
     *
     * @return a power of two
     */
    public int capacity() {
        return capacity;
    }

    /**
     * Takes out what is there, up to a limit.
     *
     * @param limit most records to take
     * @param consumer called for each; if it throws, that record counts as taken
     * @return how many were taken
     * @throws IreeException FAILED_PRECONDITION when closed
     */
    public int poll(int limit, Consumer consumer) {
        guard.enter();
        int count = 0;
        long head = (long) LONG.get(memory, (long) Shim.RING_HEAD);
        try {
            while (count < limit) {
                long slot = Shim.RING_SLOTS + (head & (capacity - 1)) * Shim.RING_SLOT_SIZE;
                // RING-1: pairs with the producer's store of the sequence
                if ((long) LONG.getAcquire(memory, slot) != head + 1) {
                    break;
                }
                long record = slot + Shim.RING_SLOT_COMPLETION;
                long token = memory.get(ValueLayout.JAVA_LONG, record);
                int status = memory.get(ValueLayout.JAVA_INT, record + 8);
                int nativeCode = memory.get(ValueLayout.JAVA_INT, record + 12);
                LONG.setRelease(memory, slot, head + capacity);
                head++;
                count++;
                consumer.completed(token, status, nativeCode);
            }
        } finally {
            LONG.setOpaque(memory, (long) Shim.RING_HEAD, head);
            guard.exit();
        }
        return count;
    }

    /**
     * Blocks until there is a record, one was lost, {@link #wake} was called, or time is up; now and then it returns early.
     *
     * @param timeout how long at most
     * @return false when time was up
     * @throws IreeException FAILED_PRECONDITION when closed, or on a virtual thread, whose carrier it would block
     */
    public boolean await(Duration timeout) {
        if (Thread.currentThread().isVirtual()) {
            throw new IreeException(
                    StatusCode.FAILED_PRECONDITION,
                    "a virtual thread may not wait for a completion ring; use a platform thread");
        }
        NativeError error = new NativeError();
        guard.enter();
        try {
            int status = Shim.ringWait(handle, Math.max(0, saturatedNanos(timeout)), error.address());
            if (status == 0) {
                return true;
            }
            if (status == StatusCode.DEADLINE_EXCEEDED.number()) {
                return false;
            }
            throw error.toException(status);
        } finally {
            guard.exit();
            Reference.reachabilityFence(error);
        }
    }

    private static long saturatedNanos(Duration timeout) {
        return timeout.compareTo(Duration.ofNanos(Long.MAX_VALUE)) >= 0 ? Long.MAX_VALUE : timeout.toNanos();
    }

    /**
     * Has the next record make {@link #readiness} readable, for a poller that waits for it together with other things. Called before
     * each such wait.
     *
     * @return whether there is something to poll already
     */
    public boolean arm() {
        guard.enter();
        try {
            return Shim.ringArm(handle) != 0;
        } finally {
            guard.exit();
        }
    }

    /**
     * Returns what becomes readable when a record comes after {@link #arm}, and is to be taken then.
     *
     * @return a descriptor; the caller closes it
     */
    public EventDescriptor readiness() {
        guard.enter();
        try {
            return EventDescriptor.duplicate(Shim.ringEventFd(handle));
        } finally {
            guard.exit();
        }
    }

    /** Ends the current or next {@link #await}. */
    public void wake() {
        guard.enter();
        try {
            Shim.ringWake(handle);
        } finally {
            guard.exit();
        }
    }

    /**
     * Publishes a record from Java, as a driver's thread would.
     *
     * @param token chosen by the submitter
     * @param status canonical number of the outcome
     * @param nativeCode the driver's own number
     * @return false when the ring was full and the record is lost
     */
    public boolean push(long token, int status, int nativeCode) {
        guard.enter();
        try {
            return Shim.ringPush(handle, token, status, nativeCode) == 0;
        } finally {
            guard.exit();
        }
    }

    /**
     * Returns whether a record was ever lost. Never goes back to false.
     *
     * @return whether operations may have ended unnoticed
     */
    public boolean isLossy() {
        guard.enter();
        try {
            return (int) INT.getAcquire(memory, (long) Shim.RING_LOSSY) != 0;
        } finally {
            guard.exit();
        }
    }

    /**
     * The {@code shim_ring_t*} to hand to a driver's callback. Valid until the ring is closed.
     */
    long address() {
        return handle;
    }

    @Override
    protected String describe() {
        return "completion ring of " + capacity + " records";
    }

    @Override
    protected void destroy() {
        guard.close();
    }
}
