package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/** An operation on a stream. What changes is guarded by the lock of the hardware queue, until the entry is over. */
final class StreamEntry {
    final HardwareStream stream;
    final StreamOperation operation;
    final long epoch;

    /** What the hardware is to run; null for nothing. */
    @Nullable
    StreamWork work;

    /** What the hardware is to wait for before that; null for nothing. */
    @Nullable
    TimelineWaits waits;

    /** What the host has to do then; null for nothing. */
    @Nullable
    HostStep step;

    /** A ticket of its hardware queue that it comes after, besides what its stream has submitted; 0 for none. */
    long after;

    /** The ticket that was reserved for its submission; 0 for none. */
    long reserved;

    /** The submission behind which its step comes, or else its end; once begun. */
    long ticket;

    /** The ticket with which it is over, for other queues to wait for; 0 while there is none. */
    long end;

    /** Why it fails; the first cause stays. */
    @Nullable
    IreeException failure;

    StreamEntry(
            HardwareStream stream,
            StreamOperation operation,
            long epoch,
            @Nullable StreamWork work,
            @Nullable TimelineWaits waits,
            @Nullable HostStep step) {
        this.stream = stream;
        this.operation = operation;
        this.epoch = epoch;
        this.work = work;
        this.waits = waits;
        this.step = step;
    }

    /** Whether there is something to submit. */
    boolean needsSubmission() {
        return work != null || waits != null;
    }

    void fail(@Nullable IreeException cause) {
        if (failure == null) {
            failure = cause;
        }
    }

    /** The hardware is done with what it was to run: called without a lock by whoever goes on with the entry. */
    void hardwareOver() {
        TimelineWaits waited = waits;
        if (waited != null) {
            waits = null;
            waited.release();
        }
        StreamWork ran = work;
        if (ran != null) {
            work = null;
            ran.over();
        }
    }
}
