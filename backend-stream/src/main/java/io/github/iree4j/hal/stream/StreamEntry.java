package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import org.jspecify.annotations.Nullable;

/** An operation on a stream. Mutable state is guarded by the lock of the hardware queue until the entry is complete. */
final class StreamEntry {
    final HardwareStream stream;
    final StreamOperation operation;
    final long epoch;

    /** The commands of the hardware; null for none. */
    @Nullable
    StreamWork work;

    /** The points for the hardware to wait for first; null for none. */
    @Nullable
    TimelineWaits waits;

    /** The host step after the hardware part; null for none. */
    @Nullable
    HostStep step;

    /** A ticket of the same hardware queue that precedes this entry, in addition to submissions of the entry's stream; 0 for none. */
    long after;

    /** The ticket reserved for the entry's submission; 0 for none. */
    long reserved;

    /** The submission after which the entry's step runs or the entry completes; set once begun. */
    long ticket;

    /** The ticket marking the entry's completion, for waits of other queues; 0 while there is none. */
    long end;

    /** Whether the begin was reported. */
    boolean seen;

    /** The first failure. */
    @Nullable
    IreeException failure;

    /** The failure found after the lane accepted the submission: by any thread, without a lock, before the ticket is reached. */
    private volatile @Nullable IreeException late;

    final Outcome outcome;

    StreamEntry(
            HardwareStream stream,
            StreamOperation operation,
            long epoch,
            Outcome outcome,
            @Nullable StreamWork work,
            @Nullable TimelineWaits waits,
            @Nullable HostStep step) {
        this.stream = stream;
        this.operation = operation;
        this.epoch = epoch;
        this.outcome = outcome;
        this.work = work;
        this.waits = waits;
        this.step = step;
    }

    /** Returns whether there is something to submit. */
    boolean needsSubmission() {
        return work != null || waits != null;
    }

    void fail(@Nullable IreeException cause) {
        if (failure == null && cause != null) {
            failure = cause;
            outcome.fail(cause);
        }
    }

    /** Fails the entry while the submission is being given, or later; by any thread, before the ticket is reached. */
    void failLate(IreeException cause) {
        if (late == null) {
            late = cause;
        }
        outcome.fail(cause);
    }

    /** Takes over a late failure, once the ticket is reached. */
    void failIfLate() {
        fail(late);
    }

    /** Releases the commands and waits after the hardware: called without a lock by the thread that continues the entry. */
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
