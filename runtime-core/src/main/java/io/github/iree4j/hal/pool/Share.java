package io.github.iree4j.hal.pool;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A limit on memory of a device, or of a consumer with a quota, with the bytes committed to admitted calls and the
 * bytes kept by others. Commits are atomic; fields marked as guarded by the gate's lock are written under the gate's
 * lock.
 */
final class Share {
    /**
     * The inputs of calls waiting for their fences get at most this part of a limit: so a ready call, yet unknown, has
     * room beside such inputs. A guess, not measured.
     */
    private static final int AHEAD = 4;

    final InputTurn inputs = new InputTurn();

    private final long limit;
    private final long shared;
    private final long lost;
    private final AtomicLong committed = new AtomicLong(); // bytes committed to admitted calls
    private volatile long ahead; // inputs of calls admitted for the inputs alone; guarded by the gate's lock
    // largest need so far; a concurrent smaller need may hide the largest until its call is tried again
    private volatile long largest;

    /** Bytes kept by the host and by programs. Written under the lock of the set, as is {@link #permanent}. */
    private final AtomicLong kept = new AtomicLong();

    private volatile long permanent; // the part kept by loaded programs
    // whether released memory is kept for one request; written under the lock of the set
    private volatile boolean isShut;

    /** The time of the last admission after a wait for the share, by the gate's clock. Guarded by the gate's lock. */
    long lastAdmitted = Long.MIN_VALUE / 2;

    /**
     * Begins with nothing committed.
     *
     * @param limit bytes
     * @param shared bytes staying free beside inputs of calls that wait for their fences, since slabs shared by calls
     *     are never quite full
     * @param lost bytes staying free while several calls run, and at the admission of such inputs, since blocks also have
     *     longer slabs than needed
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

    /** The part of the limit taken by a call with the given need. */
    long part(long need) {
        return Math.min(need, limit);
    }

    /** Bytes committed to running calls: all other calls hold only their inputs. */
    long running() {
        return committed.get() - ahead;
    }

    /** Whether no admitted call runs. */
    boolean isQuiet() {
        return running() <= 0;
    }

    /** Stops or resumes commitments to calls. Under the lock of the set. */
    void shut(boolean whether) {
        isShut = whether;
    }

    /**
     * Commits the need of a call unless the share is shut or lacks room; a call that is alone has all the room left by
     * programs.
     *
     * @param had bytes committed to the call before, as a part of the need
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

    /** Records the need of a call, expected or shown. A call that can never fit needs no room beside others. */
    void needs(long bytes) {
        if (bytes > largest && bytes <= limit) {
            largest = bytes;
        }
    }

    /**
     * Commits everything to a call with an unknown need, unless the share is shut, another call runs or there is no
     * room for the inputs: a guess is no reason to wait for the host.
     */
    boolean tryCommitAll(long inputs, long had) {
        long now = committed.get();
        return !isShut
                && isQuiet()
                && Math.min(inputs, limit - permanent) - had <= limit - kept.get() - now
                && committed.compareAndSet(now, now + limit - had);
    }

    /**
     * Commits the inputs of a call waiting for a fence, if there is room now for the inputs and, beside the inputs of
     * all such calls, for the largest call: then the waiting calls can run one after the other, and so can any call
     * they may wait for. The inputs may be in slabs of earlier calls, which are longer. Under the gate's lock.
     */
    @SuppressWarnings("NonAtomicVolatileUpdate") // a single writer at a time
    boolean tryCommitAhead(long inputs, long need) {
        long room = Math.min(Math.max(need, largest), limit - permanent - lost) + lost;
        if (ahead + inputs > Math.min(limit / AHEAD, limit - kept.get() - room) || !tryCommit(inputs, 0)) {
            return false;
        }
        ahead += part(inputs);
        return true;
    }

    /** Commits the need of a call, even if the share is shut or lacks room. */
    void commit(long need, long had) {
        committed.addAndGet(part(need) - had);
    }

    /** Releases the bytes committed to a call, except for the bytes committed before. */
    void release(long need, long had) {
        committed.addAndGet(had - part(need));
    }

    /** Stops counting the inputs of a call admitted ahead: the whole need is committed, or the call has ended. Under the gate's lock. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // a single writer at a time
    void releaseAhead(long inputs) {
        ahead -= part(inputs);
    }

    /** Adds to the kept bytes, or subtracts. Under the lock of the set. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // a single writer at a time
    void keep(long bytes, boolean byProgram) {
        if (byProgram) {
            permanent += bytes;
        }
        long now = kept.getPlain() + bytes;
        if (bytes > 0) {
            kept.setRelease(now); // visible to a thread seeing the later end of the call
        } else {
            kept.set(now); // before the check for waiting calls
        }
    }

    @Override
    public String toString() {
        return "%d bytes, %d committed, %d ahead, %d kept".formatted(limit, committed.get(), ahead, kept.get());
    }
}
