package io.github.iree4j.hal.pool;

import io.github.iree4j.hal.pool.MemoryHolder.Stake;
import io.github.iree4j.hal.pool.Waiter.Overtakings;
import org.jspecify.annotations.Nullable;

/**
 * The memory left by others to a request in line, within a limit: the budget or a quota. {@link Turns} gives claims
 * to requests. Guarded by the lock of the set.
 */
final class Claim {
    /** The number of requests granted to calls in spite of a claim, if the claim cannot be met without their memory. A guess, not measured. */
    static final int EXCEPTIONS = 32;

    final long limit;
    final @Nullable Account account; // null for the budget
    private final Knots knots;
    private final AdmissionGate gate;
    private @Nullable Waiter waiter;
    private boolean overOlder; // whether older requests give way too
    private long since; // number of the last grant before the claim
    private long beside; // transient bytes of later grants without a call
    private long until; // end of the claim, in nanoseconds of the clock
    private int exceptions;
    private boolean shuts; // whether the claim has shut the gate, within the limit

    Claim(long limit, @Nullable Account account, Knots knots, AdmissionGate gate) {
        this.limit = limit;
        this.account = account;
        this.knots = knots;
        this.gate = gate;
    }

    /** The claiming request; null for none. */
    @Nullable
    Waiter waiter() {
        return waiter;
    }

    void give(Waiter claimant, boolean overOlderToo, long grants, long end) {
        waiter = claimant;
        until = end;
        overOlder = overOlderToo;
        since = grants;
        beside = 0;
        exceptions = 0;
        shuts = overOlder && suits(claimant);
        if (shuts) {
            gate.shut(share());
        }
    }

    private @Nullable Share share() {
        return account == null ? null : account.share;
    }

    /** Whether older requests give way too. */
    boolean isOverOlder() {
        return overOlder;
    }

    void end() {
        waiter = null;
        if (shuts) {
            shuts = false;
            gate.open(share());
        }
    }

    void endBefore(long now) {
        if (waiter != null && now - until >= 0) {
            end();
        }
    }

    Overtakings overtakings(Waiter first) {
        return account == null ? first.ofBudget : first.ofQuota;
    }

    boolean concerns(@Nullable Account other) {
        return account == null || account.equals(other);
    }

    /** Whether a request waits for this limit, and not for the host. */
    boolean suits(Waiter first) {
        return (account == null ? !first.account.isOverQuota(first.length) : concerns(first.account))
                && canBeMet(first);
    }

    /** Ends a claim if nobody can give way now, unless others have failed for the claim. */
    void endInVain() {
        if (waiter != null && !overOlder && !suits(waiter)) {
            end();
        }
    }

    /** Whether the request can be granted though the host releases nothing. */
    private boolean canBeMet(Waiter first) {
        Stake own = first.stake;
        long held = own == null || own.isOver() || !concerns(own.account) ? 0 : own.live;
        return first.length <= limit - held - knots.kept(this);
    }

    /**
     * Whether another request may have memory.
     *
     * @param live bytes reserved within the limit
     */
    boolean admits(long age, @Nullable Stake stake, long length, long live) {
        Waiter first = waiter;
        if (first == null
                || !overOlder && age < first.age
                || stake != null && stake.equals(first.stake)
                || !suits(first)) {
            return true;
        }
        // Where enough bytes are free but not contiguous, no other request gets memory until enough bytes are
        // contiguous.
        long room = first.length <= limit - live ? 0 : limit - first.length - beside - knots.staying(this);
        return length <= room || stake != null && isNeeded(stake, room);
    }

    /** Whether the claim cannot be met while this call waits, given that the call held memory before the claim. */
    private boolean isNeeded(Stake stake, long room) {
        return exceptions < EXCEPTIONS && held(stake) && (stake.isWaiting() ? room : room - stake.live) < 0;
    }

    private boolean held(Stake stake) {
        return stake.live > 0 && !isLater(stake) && concerns(stake.account);
    }

    /** Whether a call held nothing before the claim. */
    boolean isLater(Stake stake) {
        return stake.heldSince >= since;
    }

    void granted(@Nullable Stake stake, boolean persistent, long length) {
        if (waiter != null) {
            beside += stake == null && !persistent ? length : 0;
            exceptions += stake != null && held(stake) ? 1 : 0;
        }
    }

    void released(Reservation reservation) {
        if (waiter != null && reservation.grant > since && reservation.stake == null && !reservation.persistent) {
            beside -= reservation.length();
        }
    }
}
