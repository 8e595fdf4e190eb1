package io.github.iree4j.hal.pool;

import io.github.iree4j.async.Cancellation;
import org.jspecify.annotations.Nullable;

/** A request that stands in line. Guarded by the lock of the set. */
final class Waiter implements Cancellation {
    final ReservationRequest request;
    final Pool pool;
    final Account account;
    final @Nullable Holding holding;
    final ReservationListener listener;
    final long age; // place in line: lower ages come first
    final long since;

    final long length; // bytes taken from the pool

    final Overtakings ofBudget = new Overtakings();
    final Overtakings ofQuota = new Overtakings();
    long claimedUntil; // end of the last claim, unless 0

    /** Whether the request waits for a quota; requests behind may then overtake. */
    boolean byQuota;

    /** Time since when no look has found a source of the missing memory; meaningful while {@link #hopeless}. */
    long hopelessSince;

    boolean hopeless;
    long doubtedSince; // start of the hopeless state, not reset by later moves

    // Links of the line.
    @Nullable
    Waiter previous;

    @Nullable
    Waiter next;

    boolean inLine;

    Waiter(
            ReservationRequest request,
            Pool pool,
            Account account,
            @Nullable Holding holding,
            ReservationListener listener,
            long age,
            long since,
            boolean byQuota) {
        this.request = request;
        this.pool = pool;
        this.account = account;
        this.holding = holding;
        this.listener = listener;
        this.age = age;
        this.since = since;
        this.byQuota = byQuota;
        this.length = pool.store.lengthFor(request.size());
    }

    /** The number of times that others overtook the request for a limit while the request was the first. */
    static final class Overtakings {
        int number; // since the last claim, as are the bytes
        long bytes;
        int claims; // number of claims so far
    }

    @Override
    public boolean cancel() {
        return pool.set.takeBack(this);
    }
}
