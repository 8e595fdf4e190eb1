package io.github.iree4j.hal.pool;

import io.github.iree4j.async.Cancellation;
import org.jspecify.annotations.Nullable;

/** A request that stands in line. Guarded by the lock of the set. */
final class Waiter implements Cancellation {
    final ReservationRequest request;
    final Pool pool;
    final Account account;
    final MemoryHolder.@Nullable Stake stake;
    final ReservationListener listener;
    final long age; // its place in line: lower ones come first
    final long since;

    final long length; // bytes that it takes from the pool

    final Overtakings ofBudget = new Overtakings();
    final Overtakings ofQuota = new Overtakings();
    long claimedUntil; // when its last claim ends, unless 0

    /** Whether it waits for its own quota, so that requests behind it may overtake. */
    boolean byQuota;

    /** Since when no look found anything that could free what it waits for; meaningful while {@link #hopeless}. */
    long hopelessSince;

    boolean hopeless;
    long doubtedSince; // the same, whatever moved since

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
            MemoryHolder.@Nullable Stake stake,
            ReservationListener listener,
            long age,
            long since,
            boolean byQuota) {
        this.request = request;
        this.pool = pool;
        this.account = account;
        this.stake = stake;
        this.listener = listener;
        this.age = age;
        this.since = since;
        this.byQuota = byQuota;
        this.length = pool.store.lengthFor(request.size());
    }

    /** How often a request was overtaken by others for a limit while it was the first. */
    static final class Overtakings {
        int number; // since its last claim, as are the bytes
        long bytes;
        int claims; // their number so far
    }

    @Override
    public boolean cancel() {
        return pool.set.takeBack(this);
    }
}
