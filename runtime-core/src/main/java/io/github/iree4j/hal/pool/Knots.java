package io.github.iree4j.hal.pool;

import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.hal.pool.MemoryHolder.Stake;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Finds requests in line that wait in vain: those in a knot (a deadlock, where every holder of the missing memory waits for memory itself),
 * and those that have waited too long. Guarded by the lock of the set.
 *
 * <p>A knot is confirmed by a second look {@link #CONFIRM_NANOS} later: between the end of an operation and the start of the next, nothing
 * appears to be under way.
 *
 * <p>KNOT-1: while a request is in line and nothing is under way, a look is due within {@link #CONFIRM_NANOS}. So a holder that begins to
 * wait need not announce it. While something is under way no look is needed: when it ends the line is served, which schedules one.
 */
final class Knots {
    /** Long enough for a thread to start or resume an operation, short for a caller. A guess, not measured. */
    static final long CONFIRM_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    /** How long a call may take to end and release its memory after one of its requests has failed. A guess, not measured. */
    static final long END_NANOS = TimeUnit.SECONDS.toNanos(1);

    static final String REMEDY =
            "; raise the limit (memoryLimit, memoryQuota), close results earlier or make fewer calls at once";

    private static final int NAMED = 8; // most holders in a message
    private static final int DEEPEST = 64; // longest chain of calls followed; chains may be cyclic

    private final PoolSet set;
    private final List<Pool> pools;
    private final DeathFrontiers deaths;
    private final BooleanSupplier busy;
    private final LongSupplier clock;
    private final LongFunction<Executor> delayed;
    private final long patience;
    final AdmissionGate gate;
    private final long hostPatience;
    private final StakeList stakes = new StakeList(); // of holders with requests in line or with memory
    private long ofNoCallTransient;
    private long ofNoCallPersistent;
    private long released; // number of releases
    private long releasedBefore; // its value at the previous look
    private long due = Long.MAX_VALUE; // time of the next look
    private boolean isDue;

    /** A request to fail. */
    record Verdict(Waiter waiter, String why) {}

    Knots(PoolSetBuilder builder, PoolSet set, List<Pool> pools, DeathFrontiers deaths) {
        this.set = set;
        this.pools = pools;
        this.deaths = deaths;
        this.busy = builder.busy;
        this.clock = builder.clock;
        this.delayed = builder.delayed;
        this.patience = builder.patience;
        this.gate = new AdmissionGate(
                Math.min(builder.budget, builder.provider.capacity()), builder.patience, builder.hostPatience);
        this.hostPatience = builder.hostPatience;
    }

    // ---- Accounting.

    void reserved(@Nullable Stake stake, Account account, long length, boolean persistent) {
        if (stake == null) {
            ofNoCall(account, length, persistent);
            return;
        }
        if (stake.live == 0) {
            stake.account = account;
            stakes.add(stake);
        }
        stake.live += length;
        if (stake.live > stake.peak) {
            stake.peak = stake.live;
        }
        if (stake.kept) {
            kept(account, length, stake.holder.isKept());
        }
    }

    /** Notes that the holder may have ended: its memory then counts as kept by the host. */
    void reviewed(Stake stake) {
        Account account = stake.account;
        if (!stake.kept && account != null && (stake.holder.isComplete() || stake.holder.isKept())) {
            stake.kept = true;
            kept(account, stake.live, stake.holder.isKept());
        }
    }

    private void kept(Account account, long bytes, boolean byProgram) {
        if (bytes != 0) {
            gate.keep(bytes, byProgram);
            if (account.gate != null) {
                account.gate.keep(bytes, byProgram);
            }
        }
    }

    void released(@Nullable Stake stake, Account account, long length, boolean persistent) {
        released++;
        if (stake == null) {
            ofNoCall(account, -length, persistent);
            return;
        }
        stake.live -= length;
        if (stake.kept) {
            kept(account, -length, stake.holder.isKept());
        }
        forget(stake);
    }

    private void forget(Stake stake) {
        if (stake.live == 0 && stake.waiting == 0) {
            stake.failing = false;
            stakes.remove(stake);
        }
    }

    private void ofNoCall(Account account, long bytes, boolean persistent) {
        if (persistent) {
            kept(account, bytes, false);
            ofNoCallPersistent += bytes;
            account.ofNoCallPersistent += bytes;
        } else {
            ofNoCallTransient += bytes;
            account.ofNoCallTransient += bytes;
        }
    }

    void joined(Waiter waiter) {
        Stake stake = waiter.stake;
        if (stake != null) {
            stake.waiting++;
            if (stake.live == 0) {
                stake.account = waiter.account;
            }
            stakes.add(stake);
        }
        suspect(); // KNOT-1
        if (patience != Long.MAX_VALUE) {
            lookIn(patience);
        }
    }

    void left(Waiter waiter) {
        if (waiter.stake instanceof Stake stake) {
            stake.waiting--;
            forget(stake);
        }
    }

    // ---- Time.

    /** Schedules a look at the line soon, unless something is under way. */
    void suspect() {
        if (!busy.getAsBoolean()) {
            lookIn(CONFIRM_NANOS);
        }
    }

    private void lookIn(long nanos) {
        long now = clock.getAsLong();
        long at = now + nanos;
        if (isDue && due - at <= 0 && now - due <= CONFIRM_NANOS) { // else the executor has dropped that look
            return;
        }
        isDue = true;
        due = at;
        WeakReference<PoolSet> reference = new WeakReference<>(set);
        Runnable look = () -> {
            PoolSet pools = reference.get();
            if (pools != null) {
                pools.lookAtLine();
            }
        };
        HeldCallbacks.run(() -> delayed.apply(nanos).execute(look)); // foreign code: not under the lock
    }

    // ---- Judging.

    /** Returns the requests to fail. */
    List<Verdict> review(List<Waiter> line, long now, boolean growing) {
        if (isDue && due - now <= 0) {
            isDue = false;
        }
        List<Verdict> verdicts = new ArrayList<>();
        long next = Long.MAX_VALUE;
        if (patience != Long.MAX_VALUE) {
            for (Waiter waiter : line) {
                long rest = patience - (now - waiter.since);
                if (rest <= 0) {
                    verdicts.add(new Verdict(
                            waiter,
                            " has waited %d ms for memory, the longest wait allowed"
                                            .formatted(TimeUnit.NANOSECONDS.toMillis(now - waiter.since))
                                    + holders(waiter)));
                } else {
                    next = Math.min(next, rest);
                }
            }
        }
        if (!line.isEmpty() && verdicts.isEmpty()) {
            knot(line, now, growing, verdicts);
        }
        verdicts.forEach(each -> {
            if (each.waiter.stake instanceof Stake stake) {
                stake.failing = true;
                stake.failedAt = now;
            }
        });
        if (next != Long.MAX_VALUE) { // no later than the look that is due anyway, to save one
            lookIn(Math.max(1, busy.getAsBoolean() ? next : Math.min(next, CONFIRM_NANOS)));
        }
        return verdicts;
    }

    /** Looks for a knot. */
    private void knot(List<Waiter> line, long now, boolean growing, List<Verdict> verdicts) {
        boolean moved = released != releasedBefore;
        releasedBefore = released;
        hope(line, now);
        if (growing || busy.getAsBoolean() || isFreeingUnderWay()) {
            line.forEach(each -> each.hopeless = false);
            return;
        }
        Waiter victim = null;
        for (Waiter waiter : line) {
            if (isHopeful(waiter)) {
                waiter.hopeless = false;
                continue;
            }
            if (!waiter.hopeless || moved) {
                waiter.hopeless = true;
                waiter.hopelessSince = now;
            }
            long wanted = mayComeFromHost(waiter) ? Math.max(hostPatience, CONFIRM_NANOS) : CONFIRM_NANOS;
            boolean inVain = now - waiter.hopelessSince >= wanted;
            if (inVain && (victim == null || frees(waiter) || !frees(victim))) {
                victim = waiter; // the youngest request; preferably of a call that holds memory
            }
        }
        if (victim != null) {
            verdicts.add(new Verdict(
                    victim,
                    (victim.stake == null ? "" : " for " + victim.stake.holder)
                            + " waits for memory that no running work will free" + holders(victim)));
        }
    }

    private static boolean frees(Waiter waiter) {
        return waiter.stake instanceof Stake stake && stake.live > 0;
    }

    /** Marks the holders that can run, and those that can once the former have. */
    private void hope(List<Waiter> line, long now) {
        for (Stake stake : stakes) {
            if (stake.failing && now - stake.failedAt >= END_NANOS) {
                stake.failing = false; // the call continues despite the failure
            }
            stake.hopeful = stake.failing
                    || stake.live > 0
                            && !stake.holder.isComplete()
                            && !stake.holder.isKept()
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
        Stake before = before(stake);
        if (before != null && before.hopeful && !stake.holder.isComplete() && !stake.holder.isKept()) {
            return true;
        }
        return stake.waiting > 0
                && line.stream().filter(each -> stake.equals(each.stake)).allMatch(this::isHopeful);
    }

    /** Returns the first call that waits for memory, in the chain of calls whose turn or end a holder waits for. */
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

    /** Whether another holder of the memory that the request waits for can run. */
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

    private static boolean concerns(Stake stake, Waiter waiter) {
        return stake.live > 0 && (!waiter.byQuota || waiter.account.equals(stake.account));
    }

    private boolean mayComeFromHost(Waiter waiter) {
        return (waiter.byQuota ? waiter.account.ofNoCallPersistent : ofNoCallPersistent) > 0
                || stakes.all().stream().anyMatch(stake -> stake.holder.isComplete() && concerns(stake, waiter));
    }

    /** Whether released memory is still in use by work under way. */
    private boolean isFreeingUnderWay() {
        boolean[] found = new boolean[1];
        for (Pool pool : pools) {
            pool.store.forEachFree(block -> found[0] |= block.death != null && !deaths.isCompleted(block.death));
        }
        return found[0];
    }

    // ---- Messages.

    private String holders(Waiter waiter) {
        List<Stake> holding = stakes.all().stream()
                .filter(stake -> concerns(stake, waiter))
                .sorted((a, b) -> Long.compare(b.live, a.live))
                .toList();
        String named = holding.stream().limit(NAMED).map(Knots::describe).collect(Collectors.joining(", "));
        String more = holding.size() > NAMED ? " and %d more".formatted(holding.size() - NAMED) : "";
        long host = waiter.byQuota ? waiter.account.ofNoCallPersistent : ofNoCallPersistent;
        String kept = host > 0 ? "%sthe host keeps %d bytes".formatted(named.isEmpty() ? "" : ", ", host) : "";
        return named.isEmpty() && kept.isEmpty() ? "" : ": " + named + more + kept;
    }

    private static String describe(Stake stake) {
        String state = stake.holder.isKept()
                ? "while it is loaded"
                : stake.holder.isComplete()
                        ? "in results that are not closed"
                        : stake.waiting > 0
                                ? "and waits for memory"
                                : stake.holder.awaited() instanceof MemoryHolder inner
                                        ? "and waits for the %s that it made".formatted(inner)
                                        : stake.holder.isBehind() != null
                                                ? "and waits for its turn"
                                                : "and runs or waits for something else";
        return "%s holds %d bytes %s".formatted(stake.holder, stake.live, state);
    }
}
