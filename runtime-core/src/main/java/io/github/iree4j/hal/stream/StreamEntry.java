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

    /** The points that the hardware waits for first; null for none. */
    @Nullable
    TimelineWaits waits;

    /** The host step that follows; null for none. */
    @Nullable
    HostStep step;

    /** A ticket of its hardware queue that it runs after, besides submissions of its stream; 0 for none. */
    long after;

    /** The ticket that was reserved for its submission; 0 for none. */
    long reserved;

    /** The submission after which its step runs, or it completes; once begun. */
    long ticket;

    /** The ticket that marks its completion, for other queues to wait for; 0 while there is none. */
    long end;

    /** Its begin was reported. */
    boolean seen;

    /** The first failure. */
    @Nullable
    IreeException failure;

    /** What the driver reported after it took the submission: by any thread, without a lock, before the ticket is reached. */
    volatile @Nullable IreeException late;

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

    /** The hardware is done with the commands: called without a lock by the thread that continues the entry. */
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
