package io.github.iree4j.hal.pool;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds the requests in line that may be granted without any failure: requests for memory of a holder that can run, or
 * that waits only for such requests. Anything unknown counts as hope, and such waits end with patience. Guarded by the
 * lock of the set.
 */
final class Hope {
    static final int DEEPEST = 64; // longest chain of calls followed; chains may be cyclic

    private final PoolSet set;
    private final HoldingList holdings;
    private final Resolution resolution;
    private final AdmissionGate gate;
    private final long hostPatience;
    private long ofNoCallTransient;
    private long ofNoCallPersistent;
    private int hopeful; // holdings found hopeful by the last look
    private int hopefulWithMemory;
    private boolean ended; // whether the last look found memory of a call that has ended

    Hope(PoolSet set, HoldingList holdings, Resolution resolution, AdmissionGate gate, long hostPatience) {
        this.set = set;
        this.holdings = holdings;
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
        hopeful = 0;
        hopefulWithMemory = 0;
        ended = false;
        Map<Holding, List<Waiter>> requests = new HashMap<>();
        for (Waiter each : line) {
            each.account.hopeful = 0; // of other accounts, the number is not read
            each.account.ended = false;
            if (each.holding != null) {
                requests.computeIfAbsent(each.holding, _ -> new ArrayList<>()).add(each);
            }
        }
        boolean runsOthers = gate.runsOthers(holdings);
        for (Holding holding : holdings) {
            holding.hopeful = false;
            if (holding.live > 0 && holding.holder.isComplete()) {
                ended = true;
                if (holding.account != null) {
                    holding.account.ended = true;
                }
            }
            if (holding.failing && now - holding.failedAt >= DeadlockDetector.END_NANOS) {
                holding.failing = false; // the call continues despite the failure
            }
            if (holding.failing
                    || holding.live > 0
                            && !holding.isOver()
                            && (!holding.holder.isShort(gate) || runsOthers)
                            && (holding.waiting == 0 || !holding.holder.isSuspended())
                            && before(holding) == null) {
                mark(holding);
            }
        }
        boolean changed = true;
        while (changed) {
            changed = false;
            for (Holding holding : holdings) {
                if (!holding.hopeful && isHopeful(holding, requests.getOrDefault(holding, List.of()))) {
                    mark(holding);
                    changed = true;
                }
            }
        }
    }

    private void mark(Holding holding) {
        holding.hopeful = true;
        hopeful++;
        if (holding.live > 0) {
            hopefulWithMemory++;
            if (holding.account != null) {
                holding.account.hopeful++;
            }
        }
    }

    private boolean isHopeful(Holding holding, List<Waiter> requests) {
        if (holding.live > 0 && holding.holder.isShort(gate)) { // the end of any call may make room
            return hopeful > 0;
        }
        Holding before = before(holding);
        if (before != null && before.hopeful && !holding.isOver()) {
            return true;
        }
        return holding.waiting > 0 && requests.stream().allMatch(this::isHopeful);
    }

    /** Returns the first call waiting for memory, in the chain of calls whose turn or end a holder waits for. */
    private @Nullable Holding before(Holding holding) {
        MemoryHolder holder = holding.holder.isBehind();
        for (int i = 0; holder != null && i < DEEPEST; i++) {
            Holding before = holder.knownHoldingIn(set);
            if (before != null && before.waiting > 0) {
                return before.equals(holding) ? null : before;
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
            // endless movement is no endless hope
        } else if (moved && now - waiter.doubtedSince < DeadlockDetector.END_NANOS) {
            waiter.hopelessSince = now;
        }
        return now - waiter.hopelessSince >= DeadlockDetector.CONFIRM_NANOS && isWithoutHost(waiter, now);
    }

    /** Returns whether looks have found no hope for a request for long enough, though something has moved in between. */
    boolean isDoubted(Waiter waiter, long now) {
        return waiter.hopeless
                && now - waiter.doubtedSince >= DeadlockDetector.CONFIRM_NANOS
                && isWithoutHost(waiter, now);
    }

    private boolean isWithoutHost(Waiter waiter, long now) {
        return isLostWithHost(waiter, now) || !resolution.fits(waiter, Hope::isKeptByHost);
    }

    /** Whether the host holds no memory that the request waits for, or has had time to release such memory. */
    boolean isLostWithHost(Waiter waiter, long now) {
        return now - waiter.hopelessSince >= hostPatience || !mayComeFromHost(waiter);
    }

    private boolean mayComeFromHost(Waiter waiter) {
        return waiter.byQuota
                ? waiter.account.ofNoCallPersistent > 0 || waiter.account.ended
                : ofNoCallPersistent > 0 || ended;
    }

    private static boolean isKeptByHost(Block block) {
        return block.holding == null
                ? block.persistent
                : block.holding.holder.isComplete() && !block.holding.holder.isKept();
    }

    /** Whether the waiting call, or a holder of the missing memory, can run. */
    private boolean isHopeful(Waiter waiter) {
        if ((waiter.byQuota ? waiter.account.ofNoCallTransient : ofNoCallTransient) > 0) {
            return true; // held by users of queues without a call, whose state is unknown
        }
        return (waiter.byQuota ? waiter.account.hopeful : hopefulWithMemory) > 0
                || waiter.holding != null && waiter.holding.hopeful;
    }
}
