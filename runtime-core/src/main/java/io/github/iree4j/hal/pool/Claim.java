package io.github.iree4j.hal.pool;

import io.github.iree4j.hal.pool.Waiter.Overtakings;
import org.jspecify.annotations.Nullable;

/**
 * The memory left by others to a request in line, within a limit: the budget or a quota. {@link Turns} gives claims
 * to requests. Guarded by the lock of the set.
 */
final class Claim {
    /**
     * The number of requests granted to calls in spite of a claim, if the claim cannot be met without their memory; and
     * the number of inputs of new calls before no more calls are admitted. A guess, not measured.
     */
    static final int EXCEPTIONS = 32;

    final long limit;
    final @Nullable Account account; // null for the budget
    private final DeadlockDetector detector;
    private final AdmissionGate gate;
    private @Nullable Waiter waiter;
    private boolean overOlder; // whether older requests give way too
    private long since; // number of the last grant before the claim
    private long beside; // transient bytes of later grants without a call
    private long until; // end of the claim, in nanoseconds of the clock
    private int exceptions;
    private int inputs; // number of grants for inputs of calls that held nothing before the claim
    private boolean shuts; // whether the claim has shut the gate, within the limit

    Claim(long limit, @Nullable Account account, DeadlockDetector detector, AdmissionGate gate) {
        this.limit = limit;
        this.account = account;
        this.detector = detector;
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
        inputs = 0;
        shutOrOpen();
    }

    /** Shuts the gate if others have failed for the claim, or new calls have had many inputs: inputs of admitted calls do not give way. */
    private void shutOrOpen() {
        boolean shut = waiter != null && (overOlder || inputs >= EXCEPTIONS) && suits(waiter);
        if (shut == shuts) {
            return;
        }
        shuts = shut;
        if (shut) {
            gate.shut(share());
        } else {
            gate.open(share());
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
        shutOrOpen();
    }

    void endBefore(long now) {
        if (waiter != null && now - until >= 0) {
            end();
        }
        shutOrOpen();
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
        Holding own = first.holding;
        long held = own == null || own.isOver() || !concerns(own.account) ? 0 : own.live;
        return first.length <= limit - held - detector.kept(this);
    }

    /**
     * Whether another request may have memory.
     *
     * @param live bytes reserved within the limit
     */
    boolean admits(long age, @Nullable Holding holding, long length, long live) {
        Waiter first = waiter;
        if (first == null
                || !overOlder && age < first.age
                || holding != null && holding.equals(first.holding)
                || !suits(first)) {
            return true;
        }
        // Where enough bytes are free but not contiguous, no other request gets memory until enough bytes are
        // contiguous.
        long room = first.length <= limit - live ? 0 : limit - first.length - beside - detector.staying(this);
        return length <= room || holding != null && isNeeded(holding, room);
    }

    /** Whether the claim cannot be met while this call waits, given that the call held memory before the claim. */
    private boolean isNeeded(Holding holding, long room) {
        return exceptions < EXCEPTIONS && held(holding) && (holding.isWaiting() ? room : room - holding.live) < 0;
    }

    private boolean held(Holding holding) {
        return holding.live > 0 && !isLater(holding) && concerns(holding.account);
    }

    /** Whether a call held nothing before the claim. */
    boolean isLater(Holding holding) {
        return holding.heldSince >= since;
    }

    void granted(@Nullable Holding holding, boolean persistent, long length) {
        if (waiter != null) {
            beside += holding == null && !persistent ? length : 0;
            exceptions += holding != null && held(holding) ? 1 : 0;
            if (holding != null && persistent && isLater(holding)) {
                inputs++;
                shutOrOpen();
            }
        }
    }

    void released(Reservation reservation) {
        if (waiter != null && reservation.grant > since && reservation.holding == null && !reservation.persistent) {
            beside -= reservation.length();
        }
    }
}
