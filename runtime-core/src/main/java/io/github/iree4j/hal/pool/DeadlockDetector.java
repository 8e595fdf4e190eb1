package io.github.iree4j.hal.pool;

import io.github.iree4j.async.HeldCallbacks;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Finds requests in line without a prospect of memory: requests in a deadlock, where every holder of the missing
 * memory waits for memory, and requests that have waited too long. Guarded by the lock of the set.
 *
 * <p>A deadlock is confirmed by a second look {@link #CONFIRM_NANOS} later: between the end of an operation and the start
 * of the next, nothing appears to be under way.
 *
 * <p>DEADLOCK-1: while a request is in line and nothing is under way, a look is due within {@link #CONFIRM_NANOS}. So a
 * holder need not announce the beginning of a wait. While something is under way no look is needed: the end of such
 * work serves the line, and thereby schedules a look.
 */
final class DeadlockDetector {
    /** Long enough for a thread to start or resume an operation, short for a caller. A guess, not measured. */
    static final long CONFIRM_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    /** The time for a call to end and release its memory after the failure of a request. A guess, not measured. */
    static final long END_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final PoolSet set;
    private final List<Pool> pools;
    private final DeathFrontiers deaths;
    private final BooleanSupplier busy;
    private final LongSupplier clock;
    private final LongFunction<Executor> delayed;
    private final long patience;
    private final long hostPatience;
    private final ToIntFunction<MemoryHolder> held;
    private final AdmissionGate gate;
    private final HoldingList holdings = new HoldingList(); // of holders with requests in line or with memory
    private long ofNoCallTransient;
    private long ofNoCallPersistent;
    private final Hope hope;
    private final Resolution resolution;
    private long stirs; // number of releases, and of ends of work under way
    private long stirsBefore; // value of stirs at the previous look for a deadlock
    private long moves; // stirs and grants at the previous look
    private long stillSince; // time of the last look preceded by a movement
    private long due = Long.MAX_VALUE; // time of the next look
    private boolean isDue;

    /** A request to fail: for its lateness, in favour of another request, or for lack of a prospect. */
    record Verdict(Waiter waiter, boolean late, @Nullable Waiter helped) {}

    DeadlockDetector(
            PoolSetBuilder builder,
            PoolSet set,
            List<Pool> pools,
            Slabs slabs,
            DeathFrontiers deaths,
            AdmissionGate gate) {
        this.set = set;
        this.pools = pools;
        this.deaths = deaths;
        this.busy = builder.busy;
        this.clock = builder.clock;
        this.delayed = builder.delayed;
        this.patience = builder.patience;
        this.hostPatience = builder.hostPatience;
        this.held = builder.held;
        this.gate = gate;
        this.resolution = new Resolution(pools, slabs, deaths);
        this.hope = new Hope(set, holdings, resolution, gate, builder.hostPatience);
    }

    HoldingList holdings() {
        return holdings;
    }

    Resolution resolution() {
        return resolution;
    }

    // ---- Accounting.

    /** Records a grant; {@code grants} is the number of earlier grants. */
    void reserved(@Nullable Holding holding, Account account, long length, boolean persistent, long grants) {
        if (holding == null) {
            ofNoCall(account, length, persistent);
            return;
        }
        if (holding.live == 0) {
            holding.account = account;
            holding.heldSince = grants;
            holdings.add(holding);
        }
        holding.hold(length);
        if (holding.kept) {
            kept(holding.account, length, holding.holder.isKept());
        }
    }

    /** Records that the holder may have ended: its memory then counts as kept by the host. */
    void reviewed(Holding holding) {
        Account account = holding.account;
        if (!holding.kept && account != null && (holding.holder.isComplete() || holding.holder.isKept())) {
            holding.kept = true;
            kept(account, holding.live, holding.holder.isKept());
        }
    }

    /** Charges memory kept by a holder to one account, whatever accounts its other reservations are charged to: so additions equal subtractions. */
    private void kept(@Nullable Account account, long bytes, boolean byProgram) {
        if (bytes != 0 && account != null) {
            gate.keep(account.share, bytes, byProgram);
        }
    }

    void released(@Nullable Holding holding, Account account, long length, boolean persistent) {
        stirs++;
        if (holding == null) {
            ofNoCall(account, -length, persistent);
            return;
        }
        holding.hold(-length);
        if (holding.kept) {
            kept(holding.account, -length, holding.holder.isKept());
        }
        forget(holding);
    }

    private void forget(Holding holding) {
        if (holding.live == 0 && holding.waiting == 0) {
            holding.failing = false;
            holdings.remove(holding);
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

    /** Bytes within a limit released only by the host, or by the unloading of programs. */
    long kept(Claim claim) {
        return bytes(claim, Holding::isOver);
    }

    /** Bytes counted by {@code kept}, and bytes of calls that wait in line or began after the claim. */
    long staying(Claim claim) {
        return bytes(claim, holding -> holding.isOver() || holding.isWaiting() || claim.isLater(holding));
    }

    private long bytes(Claim claim, Predicate<Holding> like) {
        long bytes = claim.account == null ? ofNoCallPersistent : claim.account.ofNoCallPersistent;
        for (Holding holding : holdings) {
            bytes += claim.concerns(holding.account) && like.test(holding) ? holding.live : 0;
        }
        return bytes;
    }

    void joined(Waiter waiter) {
        Holding holding = waiter.holding;
        if (holding != null) {
            holding.waiting++;
            if (holding.live == 0) {
                holding.account = waiter.account;
            }
            holdings.add(holding);
        }
        if (mayBeAlone(waiter)) {
            lookIn(aloneAfter());
        }
        suspect(); // DEADLOCK-1
        if (patience != Long.MAX_VALUE) {
            lookIn(patience);
        }
    }

    void left(Waiter waiter) {
        if (waiter.holding instanceof Holding holding) {
            holding.waiting--;
            forget(holding);
        }
    }

    /** Records that work under way has ended. */
    void workEnded() {
        stirs++;
    }

    // ---- Time.

    /** Schedules a look at the line soon, unless something is under way. */
    void suspect() {
        if (!busy.getAsBoolean()) {
            lookIn(CONFIRM_NANOS);
        }
    }

    long now() {
        return clock.getAsLong();
    }

    void lookIn(long nanos) {
        long now = clock.getAsLong();
        long at = now + nanos;
        if (isDue && due - at <= 0 && now - due <= CONFIRM_NANOS) { // otherwise the executor has dropped the look
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

    /**
     * Whether nothing has moved for a while: nothing was under way at this look and the earlier looks, nothing has
     * ended in between, and no memory was granted or released.
     */
    boolean isStill(long now, boolean growing, long grants) {
        boolean moved = stirs + grants != moves || growing || busy.getAsBoolean() || isFreeingUnderWay();
        moves = stirs + grants;
        if (moved) {
            stillSince = now;
        }
        return now - stillSince >= CONFIRM_NANOS;
    }

    /**
     * Returns the requests to fail.
     *
     * @param helps tried before requests fail for lack of a prospect: serves requests held back by claims, and returns
     *     whether any was granted
     */
    List<Verdict> review(List<Waiter> line, long now, boolean growing, BooleanSupplier helps) {
        if (isDue && due - now <= 0) {
            isDue = false;
        }
        List<Verdict> verdicts = new ArrayList<>();
        long next = Long.MAX_VALUE;
        for (Waiter waiter : line) {
            if (waiter.claimedUntil != 0 && waiter.claimedUntil - now > 0) {
                next = Math.min(next, waiter.claimedUntil - now);
            }
            if (patience != Long.MAX_VALUE) {
                long rest = patience - (now - waiter.since);
                if (rest <= 0) {
                    verdicts.add(new Verdict(waiter, true, null));
                } else {
                    next = Math.min(next, rest);
                }
            }
            if (mayBeAlone(waiter)) { // beside endless work only a look detects the time
                long rest = aloneAfter() - (now - waiter.since);
                next = Math.min(next, rest > 0 ? rest : aloneAfter());
            }
        }
        if (!line.isEmpty() && verdicts.isEmpty()) {
            deadlock(line, now, growing, verdicts);
            if (!verdicts.isEmpty() && !busy.getAsBoolean() && helps.getAsBoolean()) {
                verdicts.clear(); // looked at again soon, DEADLOCK-1
            }
        }
        verdicts.forEach(each -> {
            if (each.waiter.holding instanceof Holding holding) {
                holding.failing = true;
                holding.failedAt = now;
            }
        });
        if (next != Long.MAX_VALUE) { // no later than the look due anyway, to save a look
            lookIn(Math.max(1, busy.getAsBoolean() ? next : Math.min(next, CONFIRM_NANOS)));
        }
        return verdicts;
    }

    /** Looks for a deadlock: finds the requests to fail in favour of the oldest call that can be helped. */
    private void deadlock(List<Waiter> line, long now, boolean growing, List<Verdict> verdicts) {
        hope.look(line, now, ofNoCallTransient, ofNoCallPersistent);
        boolean moved = stirs != stirsBefore;
        stirsBefore = stirs;
        if (growing || busy.getAsBoolean() || isFreeingUnderWay()) {
            line.forEach(each -> each.hopeless = false);
            alone(line, now, verdicts);
            return;
        }
        List<Waiter> doomed =
                line.stream().filter(each -> hope.isLost(each, now, moved)).toList();
        // The doubt of the younger may have begun later: who has moved of late may end for who has waited for long.
        Resolution.Help help = resolution.help(
                doomed, line.stream().filter(each -> hope.isDoubted(each, now)).toList());
        if (help != null) {
            help.ending().forEach(each -> verdicts.add(new Verdict(each, false, help.helped())));
        } else if (resolution.help(
                        doomed, line.stream().filter(each -> each.hopeless).toList())
                == null) { // no call's end would help another call
            doomed.stream()
                    .filter(each -> hope.isLostWithHost(each, now))
                    .min(Resolution.OLDEST_CALL_FIRST)
                    .ifPresent(each -> verdicts.add(new Verdict(each, false, null)));
        }
    }

    /**
     * Looks for calls that nobody can help, whatever is under way: each request of such a call exceeds its quota
     * together with memory held by the call itself, and nothing of the call continues before a grant. A call waiting for
     * its inputs has not begun. Only the host
     * might release something, so the host is given time.
     */
    private void alone(List<Waiter> line, long now, List<Verdict> verdicts) {
        Set<Holding> judged = new HashSet<>();
        for (Waiter each : line) {
            Holding holding = each.holding;
            if (holding != null
                    && mayBeAlone(each)
                    && now - each.since >= aloneAfter()
                    && !holding.failing
                    && judged.add(holding)
                    && holding.holder.isBehind() == null
                    && Resolution.of(holding, line).allMatch(resolution::exceedsQuotaAlone)
                    && (each.request.persistent() || held.applyAsInt(holding.holder) == holding.waiting)) {
                verdicts.add(new Verdict(each, false, null));
            }
        }
    }

    private boolean mayBeAlone(Waiter waiter) {
        return waiter.holding != null && waiter.account.quota != Long.MAX_VALUE && hostPatience != Long.MAX_VALUE;
    }

    private long aloneAfter() {
        return Math.max(hostPatience, CONFIRM_NANOS);
    }

    /** Whether a request could be granted if the calls with failed requests had released their memory, beside a growth. */
    boolean fitsOnceCallsHaveEnded(Waiter waiter, @Nullable Pool growing, long bytes) {
        return resolution.fits(waiter, block -> block.holding != null && block.holding.failing, growing, bytes);
    }

    /**
     * Whether released memory is still in use by work under way, or by the host: a queue without work in flight may
     * have work to retire, and until then the slab stays. If the end of the last use will never be known, the memory is
     * never used again, so nobody waits for it.
     */
    private boolean isFreeingUnderWay() {
        for (Pool pool : pools) {
            if (pool.store.isAnyFree(block ->
                    block.home.isLeaving() || !deaths.isCompleted(block.death) && !deaths.isNeverKnown(block.death))) {
                return true;
            }
        }
        return false;
    }
}
