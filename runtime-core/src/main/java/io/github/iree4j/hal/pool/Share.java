package io.github.iree4j.hal.pool;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A limit on memory, what of it admitted calls may come to hold, and what others keep: of a device, or of a consumer with a quota. Commits
 * are atomic; what is marked as guarded by the gate's lock is written under that.
 */
final class Share {
    /**
     * The inputs of calls that wait for their fences get this part of a limit at most: so one that is ready has room beside them of which
     * nobody knows yet. A guess, not measured.
     */
    private static final int AHEAD = 4;

    private final long limit;
    private final long shared;
    private final long lost;
    private final AtomicLong committed = new AtomicLong(); // to admitted calls
    private volatile long ahead; // the inputs of calls that were admitted for those alone; guarded by the gate's lock
    private volatile long largest; // need so far; a concurrent smaller one may hide it until it asks again

    /** Bytes that the host and programs keep. Written under the lock of the set, as is {@link #permanent}. */
    private final AtomicLong kept = new AtomicLong();

    private volatile long permanent; // the part kept by loaded programs
    private volatile boolean isShut; // what is released is kept for one request; written under the lock of the set

    /** When a call that had to wait for it was admitted last, by the gate's clock. Guarded by the gate's lock. */
    long lastAdmitted = Long.MIN_VALUE / 2;

    /**
     * Begins with nothing committed.
     *
     * @param limit bytes
     * @param shared bytes that stay free beside inputs of calls that wait for their fences, since slabs that calls share are never quite full
     * @param lost the same while several calls run, since their blocks have longer slabs than they need, too
     */
    Share(long limit, long shared, long lost) {
        this.limit = limit;
        this.shared = shared;
        this.lost = lost;
    }

    long committed() {
        return committed.get();
    }

    long limit() {
        return limit;
    }

    /** What a call of that need takes of the limit. */
    long part(long need) {
        return Math.min(need, limit);
    }

    /** What is committed to calls that run: the others hold their inputs alone. */
    long running() {
        return committed.get() - ahead;
    }

    /** Whether no admitted call runs. */
    boolean isQuiet() {
        return running() <= 0;
    }

    /** Commits nothing more to calls until further notice, or again. Under the lock of the set. */
    void shut(boolean whether) {
        isShut = whether;
    }

    /**
     * Commits the need of a call, if it is not shut and there is room; a call that is alone has all the room that programs leave.
     *
     * @param had committed to it before, as a part of its need
     */
    boolean tryCommit(long need, long had) {
        long wanted = Math.min(need, limit - permanent) - had;
        needs(need);
        for (; ; ) {
            long now = committed.get();
            long spare = now == had ? 0 : now <= ahead ? shared : lost;
            if (isShut || wanted > limit - kept.get() - now - spare) {
                return false;
            }
            if (committed.compareAndSet(now, now + part(need) - had)) {
                return true;
            }
        }
    }

    /** A call needs that much, or has needed it. */
    void needs(long bytes) {
        if (bytes > largest) {
            largest = bytes;
        }
    }

    /**
     * Commits everything to a call whose need nobody knows, if it is not shut, no other call runs and there is room for its inputs: a guess is
     * no reason to wait for the host.
     */
    boolean tryCommitAll(long inputs, long had) {
        long now = committed.get();
        return !isShut
                && isQuiet()
                && Math.min(inputs, limit - permanent) - had <= limit - kept.get() - now
                && committed.compareAndSet(now, now + limit - had);
    }

    /**
     * Commits the inputs of a call that waits for a fence, if there is room for them now, and beside the inputs of all such calls for the
     * largest call: then one after the other can run, and any call that they may wait for. Under the gate's lock.
     */
    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer at a time
    boolean tryCommitAhead(long inputs, long need) {
        long room = Math.min(Math.max(need, largest), limit - permanent - shared) + shared;
        if (ahead + inputs > Math.min(limit / AHEAD, limit - kept.get() - room) || !tryCommit(inputs, 0)) {
            return false;
        }
        ahead += part(inputs);
        return true;
    }

    /** Commits the need of a call, whether or not it is shut or there is room. */
    void commit(long need, long had) {
        committed.addAndGet(part(need) - had);
    }

    /** Releases what was committed to a call, but for what it had before. */
    void release(long need, long had) {
        committed.addAndGet(had - part(need));
    }

    /** The whole need of a call that was admitted ahead is committed, or the call is over. Under the gate's lock. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer at a time
    void releaseAhead(long inputs) {
        ahead -= part(inputs);
    }

    /** Adds to what is kept, or subtracts. Under the lock of the set. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer at a time
    void keep(long bytes, boolean byProgram) {
        if (byProgram) {
            permanent += bytes;
        }
        long now = kept.getPlain() + bytes;
        if (bytes > 0) {
            kept.setRelease(now); // visible to a thread that sees the call end, which comes later
        } else {
            kept.set(now); // before the check for calls that wait
        }
    }

    @Override
    public String toString() {
        return "%d bytes, %d committed, %d ahead, %d kept".formatted(limit, committed.get(), ahead, kept.get());
    }
}
