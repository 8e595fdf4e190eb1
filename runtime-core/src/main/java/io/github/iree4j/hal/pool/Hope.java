package io.github.iree4j.hal.pool;

import io.github.iree4j.hal.pool.MemoryHolder.Stake;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds the requests in line that may be granted without any failure: requests for memory of a holder that can run, or
 * that waits only for such requests. Anything unknown counts as hope, and such waits end with patience. Guarded by the
 * lock of the set.
 */
final class Hope {
    static final int DEEPEST = 64; // longest chain of calls followed; chains may be cyclic

    private final PoolSet set;
    private final StakeList stakes;
    private final Resolution resolution;
    private final AdmissionGate gate;
    private final long hostPatience;
    private long ofNoCallTransient;
    private long ofNoCallPersistent;

    Hope(PoolSet set, StakeList stakes, Resolution resolution, AdmissionGate gate, long hostPatience) {
        this.set = set;
        this.stakes = stakes;
        this.resolution = resolution;
        this.gate = gate;
        this.hostPatience = hostPatience;
    }

    /**
     * Marks the holders that can run, and the holders that can run once the former have run.
     *
     * @param transientWithoutCall bytes held by users of queues without a call
     * @param persistentWithoutCall bytes kept by the host without a call
     */
    void look(List<Waiter> line, long now, long transientWithoutCall, long persistentWithoutCall) {
        ofNoCallTransient = transientWithoutCall;
        ofNoCallPersistent = persistentWithoutCall;
        for (Stake stake : stakes) {
            if (stake.failing && now - stake.failedAt >= Knots.END_NANOS) {
                stake.failing = false; // the call continues despite the failure
            }
            stake.hopeful = stake.failing
                    || stake.live > 0
                            && !stake.isOver()
                            && (!stake.holder.isShort(gate) || gate.runsOthers(stakes))
                            && (stake.waiting == 0 || !stake.holder.isSuspended())
                            && before(stake) == null;
        }
        boolean changed = true;
        while (changed) {
            changed = false;
            for (Stake stake : stakes) {
                if (!stake.hopeful && isHopeful(stake, line)) {
                    stake.hopeful = true;
                    changed = true;
                }
            }
        }
    }

    private boolean isHopeful(Stake stake, List<Waiter> line) {
        if (stake.live > 0 && stake.holder.isShort(gate)) { // the end of any call may make room
            return stakes.all().stream().anyMatch(each -> each.hopeful);
        }
        Stake before = before(stake);
        if (before != null && before.hopeful && !stake.isOver()) {
            return true;
        }
        return stake.waiting > 0
                && line.stream().filter(each -> stake.equals(each.stake)).allMatch(this::isHopeful);
    }

    /** Returns the first call waiting for memory, in the chain of calls whose turn or end a holder waits for. */
    private @Nullable Stake before(Stake stake) {
        MemoryHolder holder = stake.holder.isBehind();
        for (int i = 0; holder != null && i < DEEPEST; i++) {
            Stake before = holder.knownStakeIn(set);
            if (before != null && before.waiting > 0) {
                return before.equals(stake) ? null : before;
            }
            holder = holder.isBehind();
        }
        return null;
    }

    /** Returns whether a request has waited without hope for long enough to be sure, and nothing is to be hoped for from the host. */
    boolean isLost(Waiter waiter, long now, boolean moved) {
        if (isHopeful(waiter)) {
            waiter.hopeless = false;
            return false;
        }
        if (!waiter.hopeless) {
            waiter.hopeless = true;
            waiter.doubtedSince = now;
            waiter.hopelessSince = now;
        } else if (moved && now - waiter.doubtedSince < Knots.END_NANOS) { // endless movement is no endless hope
            waiter.hopelessSince = now;
        }
        return now - waiter.hopelessSince >= Knots.CONFIRM_NANOS
                && (isLostWithHost(waiter, now) || !resolution.fits(waiter, Hope::isKeptByHost));
    }

    /** Whether the host holds no memory that the request waits for, or has had time to release such memory. */
    boolean isLostWithHost(Waiter waiter, long now) {
        return now - waiter.hopelessSince >= hostPatience || !mayComeFromHost(waiter);
    }

    private boolean mayComeFromHost(Waiter waiter) {
        return (waiter.byQuota ? waiter.account.ofNoCallPersistent : ofNoCallPersistent) > 0
                || stakes.all().stream().anyMatch(stake -> stake.holder.isComplete() && concerns(stake, waiter));
    }

    private static boolean isKeptByHost(Block block) {
        return block.stake == null ? block.persistent : block.stake.holder.isComplete() && !block.stake.holder.isKept();
    }

    /** Whether another holder of the missing memory can run. */
    private boolean isHopeful(Waiter waiter) {
        if ((waiter.byQuota ? waiter.account.ofNoCallTransient : ofNoCallTransient) > 0) {
            return true; // held by users of queues without a call, whose state is unknown
        }
        for (Stake stake : stakes) {
            if (stake.hopeful && !stake.equals(waiter.stake) && concerns(stake, waiter)) {
                return true;
            }
        }
        return waiter.stake != null && waiter.stake.hopeful;
    }

    /** Whether a stake holds memory that the request waits for. */
    private static boolean concerns(Stake stake, Waiter waiter) {
        return stake.live > 0 && (!waiter.byQuota || waiter.account.equals(stake.account));
    }
}
