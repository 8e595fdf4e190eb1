package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.Cancellation;
import io.github.iree4j.hal.pool.PoolOptions.Lifetimes;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A method of allocating memory within a {@link PoolSet}. Safe from any thread. */
@NotForApplications
public final class Pool {
    private static final AtomicInteger NUMBERS = new AtomicInteger();

    final PoolSet set;
    private final int number = NUMBERS.incrementAndGet();
    final PoolOptions options;
    final BlockStore store;
    final long alignment; // the provider's

    // Guarded by the lock of the set.
    private long transientLive;
    private long persistentLive;
    private long peak;
    private long transientPeak;
    private long slabBytes;
    private long slabBytesPeak;
    private long reserves;
    private long releases;
    private long fresh;
    private long reusedWithoutWait;
    private long reusedAfterWait;
    private long refusedTainted;
    private long refusedUncovered;
    private long failures;
    private long shortages;
    private long shortBytes; // of the latest of these requests
    private long waits;
    private long waitedNanos;
    long waiting;
    private long waitingSince; // sum of the arrival times of the waiting requests

    /** The smallest length that did not fit while the line is served. */
    long failedLength = Long.MAX_VALUE;

    /** The smallest slab refused by the system, and the number of changes by then, see {@link Slabs#isRefused}. */
    long refused;

    long refusedAt = -1;

    Pool(PoolSet set, PoolOptions options, DeathFrontiers deaths, long alignment, Waste waste) {
        this.set = set;
        this.options = options;
        this.alignment = alignment;
        this.store = switch (options.kind()) {
            case TLSF ->
                new Tlsf(
                        deaths,
                        alignment,
                        BlockStore.alignUp(options.slabMinimum(), alignment),
                        BlockStore.alignUp(Math.max(options.slabMinimum(), options.slabMaximum()), alignment));
            case PASS_THROUGH -> new WholeSlabs(alignment, waste);
        };
    }

    /** Returns the bytes of the block for a request of a length: programs allocate zero bytes too, and every buffer has its own address. */
    long needed(long length) {
        return Math.max(length, store.lengthFor(1));
    }

    /**
     * Returns a number that identifies the pool in this process.
     *
     * @return the number, never reused
     */
    public int number() {
        return number;
    }

    /**
     * Returns a number identifying the set of the pool.
     *
     * @return the number, never reused
     */
    public int setNumber() {
        return set.number;
    }

    /**
     * Returns the name of the pool.
     *
     * @return the name
     */
    public String name() {
        return options.name();
    }

    /**
     * Returns the options of the pool.
     *
     * @return the options
     */
    public PoolOptions options() {
        return options;
    }

    /**
     * Reserves memory of this pool if possible now, see {@link PoolSet#tryReserve}.
     *
     * @param request the request
     * @return the reservation; null when the request would have to wait
     */
    public @Nullable Reservation tryReserve(ReservationRequest request) {
        return set.tryReserve(this, request);
    }

    /**
     * Reserves memory of this pool as soon as possible, see {@link PoolSet#reserve}.
     *
     * @param request the request
     * @param listener called with the outcome
     * @return withdraws the request
     */
    public Cancellation reserve(ReservationRequest request, ReservationListener listener) {
        return set.reserve(this, request, listener);
    }

    /**
     * Returns unused slabs to the provider.
     *
     * @return bytes returned
     */
    public long trim() {
        return set.trim(this);
    }

    /**
     * Returns statistics of the pool.
     *
     * @return a snapshot
     */
    public PoolStatistics statistics() {
        return set.statistics(this);
    }

    /** Checks the invariants holding between calls. For tests. */
    void verify() {
        set.verify(this);
    }

    boolean takes(ReservationRequest request) {
        boolean lifetime = options.lifetime() == Lifetimes.ANY
                || (options.lifetime() == Lifetimes.PERSISTENT) == request.persistent();
        return lifetime
                && request.size() >= options.minimumSize()
                && request.size() <= options.maximumSize()
                && (options.memoryType() == 0 || (request.memoryType() & ~options.memoryType()) == 0)
                && (options.usage() == 0 || (request.usage() & ~options.usage()) == 0);
    }

    // ---- Accounting. Called with the lock of the set held.

    long slabBytes() {
        return slabBytes;
    }

    long live() {
        return transientLive + persistentLive;
    }

    void slabAdded(long bytes) {
        slabBytes += bytes;
        slabBytesPeak = Math.max(slabBytesPeak, slabBytes);
    }

    void reserved(long length, boolean persistent, Match.Verdict verdict) {
        reserves++;
        switch (verdict) {
            case FRESH -> fresh++;
            case COVERED -> reusedWithoutWait++;
            case AFTER_WAIT -> reusedAfterWait++;
            case TAINTED, UNCOVERED -> throw new IllegalStateException("reserved in spite of " + verdict);
        }
        add(length, persistent);
        peak = Math.max(peak, live());
        transientPeak = Math.max(transientPeak, transientLive);
    }

    void released(long length, boolean persistent) {
        releases++;
        add(-length, persistent);
    }

    private void add(long bytes, boolean persistent) {
        if (persistent) {
            persistentLive += bytes;
        } else {
            transientLive += bytes;
        }
    }

    void refused(Match match) {
        refusedTainted += match.tainted ? 1 : 0;
        refusedUncovered += match.uncovered ? 1 : 0;
    }

    void failed() {
        failures++;
    }

    void fellShort(ReservationRequest request) {
        failures++;
        shortages++;
        shortBytes = request.size();
    }

    void waits(Waiter waiter) {
        waits++;
        waiting++;
        waitingSince += waiter.since;
    }

    void waited(Waiter waiter, long now) {
        waiting--;
        waitingSince -= waiter.since;
        waitedNanos += now - waiter.since;
    }

    long persistentLive() {
        return persistentLive;
    }

    PoolStatistics snapshot(long now, long waitingForHost) {
        return new PoolStatistics(
                options.name(),
                options.kind(),
                options.budget(),
                reserves,
                releases,
                fresh,
                reusedWithoutWait,
                reusedAfterWait,
                refusedTainted,
                refusedUncovered,
                waits,
                waitedNanos + waiting * now - waitingSince,
                waiting,
                waitingForHost,
                failures,
                shortages,
                shortBytes,
                transientLive,
                persistentLive,
                peak,
                transientPeak,
                slabBytes,
                slabBytesPeak,
                store.largestFree());
    }

    @Override
    public String toString() {
        return "pool '" + name() + "'";
    }
}
