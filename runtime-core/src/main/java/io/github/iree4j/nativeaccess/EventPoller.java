package io.github.iree4j.nativeaccess;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.lifetime.UseGuard;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.function.LongToIntFunction;

/** A set of event descriptors, awaited by a single platform thread. Descriptors may be added and removed from any thread, even during a wait. */
public final class EventPoller extends Resource {
    private static final int BATCH = 64;
    private static final int RECORD_SIZE = 16; // shim_completion_t
    private static final long FOREVER = -1;

    private final int poller;
    private final UseGuard guard;

    // Used by the waiting thread only; not freed while this thread may use the memory.
    private final MemorySegment records =
            Arena.ofAuto().allocate((long) BATCH * RECORD_SIZE, ValueLayout.JAVA_LONG.byteAlignment());
    private final MemorySegment outCount = Arena.ofAuto().allocate(ValueLayout.JAVA_INT);
    private final NativeError waitError = new NativeError();

    private EventPoller(int poller) {
        this.poller = poller;
        this.guard = UseGuard.of(this::describe, () -> Shim.pollerRelease(poller));
    }

    /**
     * Creates an empty set.
     *
     * @return the set; the caller closes it
     * @throws IreeException RESOURCE_EXHAUSTED without descriptors, UNAVAILABLE without the native library
     */
    public static EventPoller create() {
        return new EventPoller(EventDescriptor.open(Shim::pollerCreate));
    }

    /**
     * Adds a descriptor: the token is reported once, when the descriptor is or becomes readable, or can no longer
     * become readable. The caller removes the descriptor before closing it.
     *
     * @param event the descriptor, not in the set
     * @param token the token to report
     * @throws IreeException INVALID_ARGUMENT when the kind of descriptor cannot be waited for; ALREADY_EXISTS when the
     *     descriptor is in the set; FAILED_PRECONDITION when the set is closed
     */
    public void add(EventDescriptor event, long token) {
        change(error -> Shim.pollerAdd(poller, event.number(), token, error));
    }

    /**
     * Like {@link #add}, but permanently: every wait finding the descriptor readable reports the token.
     *
     * @param event the descriptor, not in the set
     * @param token the token to report
     * @throws IreeException as {@link #add}
     */
    public void keep(EventDescriptor event, long token) {
        change(error -> Shim.pollerKeep(poller, event.number(), token, error));
    }

    private void change(LongToIntFunction change) {
        NativeError error = new NativeError();
        guard.enter();
        try {
            int status = change.applyAsInt(error.address());
            if (status != 0) {
                throw error.toException(status);
            }
        } finally {
            guard.exit();
            Reference.reachabilityFence(error);
        }
    }

    /**
     * Removes a descriptor; a concurrent wait may still report the descriptor once. Does nothing if the descriptor is
     * not in the set.
     *
     * @param event the descriptor, not closed yet
     */
    public void remove(EventDescriptor event) {
        if (guard.tryEnter()) {
            try {
                Shim.pollerRemove(poller, event.number());
            } finally {
                guard.exit();
            }
        }
    }

    /** Receives the reports of {@link #await}. */
    @FunctionalInterface
    public interface Consumer {
        /**
         * Called once per report, on the waiting thread.
         *
         * @param token the token of the descriptor
         * @param readable false when the descriptor can no longer become readable
         */
        void reported(long token, boolean readable);
    }

    /**
     * Blocks until there is something to report or the timeout expires. One thread at a time.
     *
     * @param timeout the longest wait; negative is forever
     * @param consumer called for each report
     * @return the number of reports; 0 on timeout
     * @throws IreeException FAILED_PRECONDITION when closed, or on a virtual thread, because the wait would block the
     *     carrier
     */
    public int await(Duration timeout, Consumer consumer) {
        if (Thread.currentThread().isVirtual()) {
            throw IreeException.of(
                    StatusCode.FAILED_PRECONDITION,
                    "a virtual thread may not wait for event descriptors; use a platform thread");
        }
        long nanos = timeout.isNegative()
                ? FOREVER
                : timeout.compareTo(Duration.ofNanos(Long.MAX_VALUE)) >= 0 ? Long.MAX_VALUE : timeout.toNanos();
        guard.enter();
        try {
            int status =
                    Shim.pollerWait(poller, nanos, BATCH, records.address(), outCount.address(), waitError.address());
            if (status != 0) {
                throw waitError.toException(status);
            }
            int count = outCount.get(ValueLayout.JAVA_INT, 0);
            for (int i = 0; i < count; i++) {
                long record = (long) i * RECORD_SIZE;
                consumer.reported(
                        records.get(ValueLayout.JAVA_LONG, record), records.get(ValueLayout.JAVA_INT, record + 8) == 0);
            }
            return count;
        } finally {
            guard.exit();
            Reference.reachabilityFence(this);
        }
    }

    @Override
    protected String describe() {
        return "event poller";
    }

    @Override
    protected void destroy() {
        guard.close();
    }
}
