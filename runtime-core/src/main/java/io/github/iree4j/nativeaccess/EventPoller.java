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

/**
 * A set of event descriptors, of which one platform thread waits for those that become readable. Descriptors are added and removed
 * from any thread, also while it waits.
 */
public final class EventPoller extends Resource {
    private static final int BATCH = 64;
    private static final int RECORD_SIZE = 16; // shim_completion_t
    private static final long FOREVER = -1;

    private final int poller;
    private final UseGuard guard;

    // Of the one thread that waits; not freed while it may.
    private final MemorySegment records =
            Arena.ofAuto().allocate((long) BATCH * RECORD_SIZE, ValueLayout.JAVA_LONG.byteAlignment());
    private final MemorySegment outCount = Arena.ofAuto().allocate(ValueLayout.JAVA_INT);
    private final NativeError waitError = new NativeError();

    private EventPoller(int poller) {
        this.poller = poller;
        this.guard = new UseGuard(this::describe, () -> Shim.pollerRelease(poller));
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
     * Has a token reported once, when a descriptor is or becomes readable, or can no longer become so. Whoever adds it removes it
     * before closing it.
     *
     * @param event the descriptor, not in the set
     * @param token what is reported
     * @throws IreeException INVALID_ARGUMENT when it is of a kind that cannot be waited for; ALREADY_EXISTS when it is in the set;
     *     FAILED_PRECONDITION when the set is closed
     */
    public void add(EventDescriptor event, long token) {
        change(error -> Shim.pollerAdd(poller, event.number(), token, error));
    }

    /**
     * As {@link #add}, for a descriptor that stays: the token is reported by every wait that finds it readable.
     *
     * @param event the descriptor, not in the set
     * @param token what is reported
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
     * Takes a descriptor out; it may be reported once more if it just was. Harmless when it is not in the set.
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

    /** Receives what {@link #await} reports. */
    @FunctionalInterface
    public interface Consumer {
        /**
         * Called once per report, on the waiting thread.
         *
         * @param token what was passed when the descriptor was added
         * @param readable false when the descriptor can no longer become readable
         */
        void reported(long token, boolean readable);
    }

    /**
     * Blocks until there is something to report or time is up. One thread at a time.
     *
     * @param timeout how long at most; negative is forever
     * @param consumer called for each report
     * @return how many there were; 0 when time was up
     * @throws IreeException FAILED_PRECONDITION when closed, or on a virtual thread, whose carrier it would block
     */
    public int await(Duration timeout, Consumer consumer) {
        if (Thread.currentThread().isVirtual()) {
            throw new IreeException(
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
