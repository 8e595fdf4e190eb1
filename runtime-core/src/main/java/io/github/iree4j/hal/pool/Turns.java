package io.github.iree4j.hal.pool;

import io.github.iree4j.hal.pool.Waiter.Overtakings;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Bounds the overtakings of the first request in line, and so in time of each request, by one rule for the budget and
 * for each quota. Guarded by the lock of the set.
 *
 * <p><b>Rule.</b> The first in line for a limit may be overtaken {@link #OVERTAKINGS} times, and by as many bytes as
 * the limit. From then on the request has a {@link Claim}: others get only memory that fits beside the claimed bytes
 * and beside all bytes not going to be released before: memory kept by the host, memory held by calls in line, and
 * memory granted since. Four exceptions prevent endless waits and needless failures:
 *
 * <ul>
 *   <li>Inputs within the need that a call was admitted with. After {@link Claim#EXCEPTIONS} such inputs no call is
 *       admitted.
 *   <li>A call that held memory before the claim may go on, {@link Claim#EXCEPTIONS} times, if the claim cannot be met
 *       while the call keeps its memory.
 *   <li>When nothing has moved for a while, every fitting request is served (see {@link DeadlockDetector}).
 *   <li>A claim ends after a while, twice as long each time, and begins anew after as many overtakings: work holding
 *       memory may wait for work held back by the claim, for reasons unknown to pools.
 * </ul>
 *
 * <p>A request for another kind of memory neither overtakes nor is held back, while the budget has room for both.
 *
 * <p>A request waiting for memory kept by the host, or for its consumer's quota, has no claim to the budget, since
 * nobody could give way. Only one request at a time has a claim to a limit, and only overtakings of the first in line
 * count. So a request behind others may be overtaken as often for each request ahead, and by requests that fit beside
 * the earlier claims.
 */
final class Turns {
    /** The number of overtakings of the first in line before others give way. A guess, not measured. */
    static final int OVERTAKINGS = 32;

    /** The duration of the first claim of a request. A guess, not measured. */
    static final long CLAIM_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final int DOUBLINGS = 30;

    private final WaitingLine line;
    private final DeadlockDetector detector;
    private final Slabs slabs;
    private final Claim budget;
    private long grants; // number of grants
    private boolean suspended; // claims hold nobody back

    Turns(WaitingLine line, DeadlockDetector detector, Slabs slabs, AdmissionGate gate, long limit) {
        this.line = line;
        this.detector = detector;
        this.slabs = slabs;
        this.budget = new Claim(limit, null, detector, gate);
    }

    /** The number of the last grant. */
    long grants() {
        return grants;
    }

    /** Whether claims hold nobody back. */
    void suspend(boolean whether) {
        suspended = whether;
    }

    /**
     * Returns whether claims of others leave memory to a request.
     *
     * @param waiter the request, if in line
     * @param live bytes reserved from all pools
     */
    boolean mayGo(
            @Nullable Waiter waiter,
            Pool pool,
            long age,
            Account account,
            @Nullable Holding holding,
            long length,
            long live) {
        return suspended
                || (isApart(pool, length, budget.waiter()) || admits(budget, waiter, age, holding, length, live))
                        && (account.claim == null
                                || admits(account.claim, waiter, age, holding, length, account.live()));
    }

    /** Whether a request takes no memory that the first in line may lack: the kinds differ, and the budget has room for both. */
    private boolean isApart(Pool pool, long length, @Nullable Waiter first) {
        return first != null
                && pool.options.memoryType() != first.pool.options.memoryType()
                && first.length + (slabs.hasGrownFor(pool, length) ? 0 : length) <= slabs.budget - slabs.bytes();
    }

    private boolean admits(
            Claim claim, @Nullable Waiter waiter, long age, @Nullable Holding holding, long length, long live) {
        if (claim.waiter() == null) {
            return true;
        }
        claim.endBefore(detector.now());
        return waiter != null && waiter.equals(claim.waiter()) || claim.admits(age, holding, length, live);
    }

    /**
     * Returns whether the block taken for a request leaves enough for the request favoured by others' failures. Numbers
     * of bytes do not suffice for the answer, since memory is granted in slabs.
     */
    boolean leavesPlace(@Nullable Waiter waiter, Account account, @Nullable Holding holding) {
        return leavesPlace(waiter, account, holding, null, 0);
    }

    /**
     * Returns whether there is enough for that request also once a pool has grown for another request. Otherwise the
     * other request would take back the slab of the favoured request for its own slab, and not be allowed to keep that.
     *
     * @param growing the pool; null for no growth
     * @param bytes the size of the slab
     */
    boolean leavesPlace(
            @Nullable Waiter waiter, Account account, @Nullable Holding holding, @Nullable Pool growing, long bytes) {
        return suspended
                || leavesPlace(budget, waiter, holding, growing, bytes)
                        && (account.claim == null || leavesPlace(account.claim, waiter, holding, growing, bytes));
    }

    private boolean leavesPlace(
            Claim claim, @Nullable Waiter waiter, @Nullable Holding holding, @Nullable Pool growing, long bytes) {
        Waiter helped = claim.waiter();
        return helped == null
                || !claim.isOverOlder()
                || helped.equals(waiter)
                || holding != null && holding.equals(helped.holding)
                || !claim.suits(helped)
                || detector.fitsOnceCallsHaveEnded(helped, growing, bytes);
    }

    /** Records a grant to a request of the given age. */
    void granted(long age, Pool pool, Account account, @Nullable Holding holding, boolean persistent, long length) {
        grants++;
        granted(budget, age, pool, holding, persistent, length);
        if (account.claim != null) {
            granted(account.claim, age, pool, holding, persistent, length);
        }
    }

    private void granted(Claim claim, long age, Pool pool, @Nullable Holding holding, boolean persistent, long length) {
        claim.endInVain();
        if (claim.waiter() != null) {
            claim.granted(holding, persistent, length);
        } else if (line.firstBefore(age, claim::suits) instanceof Waiter first
                && !(claim.equals(budget) && isApart(pool, length, first))) {
            Overtakings overtakings = claim.overtakings(first);
            overtakings.number++;
            overtakings.bytes += length;
            if (overtakings.number >= OVERTAKINGS || overtakings.bytes >= claim.limit) {
                give(claim, first, false);
            }
        }
    }

    /** Gives a request a claim to the memory released by failing requests: earlier requests in line wait for more, or for something else. */
    void help(Waiter waiter) {
        help(budget, waiter);
        if (waiter.account.claim != null) {
            help(waiter.account.claim, waiter);
        }
    }

    private void help(Claim claim, Waiter waiter) {
        claim.endBefore(detector.now());
        if (claim.waiter() == null || !claim.isOverOlder()) {
            give(claim, waiter, true);
        }
    }

    private void give(Claim claim, Waiter waiter, boolean overOlder) {
        Overtakings overtakings = claim.overtakings(waiter);
        long nanos = CLAIM_NANOS << Math.min(overtakings.claims++, DOUBLINGS);
        overtakings.number = 0;
        overtakings.bytes = 0;
        waiter.claimedUntil = detector.now() + nanos;
        claim.give(waiter, overOlder, grants, waiter.claimedUntil);
        detector.lookIn(nanos);
    }

    void released(Reservation reservation) {
        budget.released(reservation);
        if (reservation.account.claim != null) {
            reservation.account.claim.released(reservation);
        }
    }

    /** Ends the expired claims: calls waiting outside for the end of a claim request no memory. */
    void endBefore(long now) {
        budget.endBefore(now);
        for (Waiter each : line.all()) {
            if (each.account.claim != null) {
                each.account.claim.endBefore(now);
            }
        }
    }

    /** Ends the claims of a request that leaves the line. */
    void left(Waiter waiter) {
        end(budget, waiter);
        if (waiter.account.claim != null) {
            end(waiter.account.claim, waiter);
        }
    }

    private static void end(Claim claim, Waiter waiter) {
        if (waiter.equals(claim.waiter())) {
            claim.end();
        }
    }
}
