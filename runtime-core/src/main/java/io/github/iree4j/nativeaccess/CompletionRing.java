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
 * Reports completions from driver threads to Java without upcalls: driver threads push 16-byte records to a ring in native memory, and one
 * Java thread consumes them.
 *
 * <p>{@link #poll} reads the ring directly, without a native call; {@link #await} sleeps until there is something to read. Both may be
 * called by one thread at a time, {@code await} only by a platform thread. {@link #push} and {@link #wake} may be called from any thread.
 *
 * <p>A record that finds the ring full is lost, which {@link #isLossy} reports from then on. To prevent that, reserve a place before
 * submitting the operation that will push.
 */
public final class CompletionRing extends Resource {
    /*
     * The layout and protocol are those of native-shim/src/shim_ring.c. A slot whose sequence is head + 1 holds the record of
     * position head; storing head + capacity returns it to the producers. The acquire load of the sequence makes the record, and everything
     * that its producer wrote before pushing, visible here; the release store orders our reads of the record before the next producer's
     * writes.
     */
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    /** Receives the records that {@link #poll} consumes. */
    @FunctionalInterface
    public interface Consumer {
        /**
         * Called once per record, in the order of publication, on the polling thread. MUST NOT poll or close the ring.
         *
         * @param token the submitter's token
         * @param status canonical status number
         * @param nativeCode the driver's code
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
     * Creates a ring. The caller closes it once no driver can push to it any more.
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
     * Returns the capacity in records.
     *
     * @return a power of two
     */
    public int capacity() {
        return capacity;
    }

    /**
     * Consumes the available records, up to a limit.
     *
     * @param limit the most records to consume
     * @param consumer called for each; if it throws, that record counts as consumed
     * @return the number of records consumed
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
     * Blocks until there is a record, one was lost, {@link #wake} was called, or the timeout expires; may return early.
     *
     * @param timeout the longest wait
     * @return false on timeout
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
     * Arms the ring: the next record makes {@link #readiness} readable, for a poller that waits for several descriptors. Call before each
     * such wait.
     *
     * @return whether there is already something to poll
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
     * Returns a descriptor that becomes readable when a record arrives after {@link #arm}; take it then.
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

    /** Ends the current or the next {@link #await}. */
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
     * @param token the submitter's token
     * @param status canonical status number
     * @param nativeCode the driver's code
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
     * Returns whether a record was ever lost. Never reverts to false.
     *
     * @return true if completions may have been missed
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
