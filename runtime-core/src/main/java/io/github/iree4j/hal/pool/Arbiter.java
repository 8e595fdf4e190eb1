package io.github.iree4j.hal.pool;

import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.HighWater;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.Known;
import io.github.iree4j.status.NeverFits;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Grants memory to new requests and to requests in line, see {@link PoolSet}, and keeps the accounts. Guarded by the lock of the set. */
final class Arbiter {
    /** The number of refused free blocks after which the pool grows instead. A guess, not measured. */
    private static final int REFUSALS_BEFORE_GROWTH = 64;

    /** Logs reservations and releases at TRACE; {@code bin/reservations} turns the log into a recording. */
    private static final Logger RESERVATIONS = LoggerFactory.getLogger(Reservation.class);

    private final boolean traced = RESERVATIONS.isTraceEnabled(); // read once: each result of each call reserves
    private final List<Pool> pools;
    private final Slabs slabs;
    private final Match match;
    private final DeathWatch deathWatch;
    private final Accounts accounts;
    private final WaitingLine line = new WaitingLine();
    private final Serving serving = new Serving();
    private final PoolSet set;
    private final AdmissionGate gate;
    private final DeadlockDetector detector;
    private final Turns turns;
    private final Shortage shortage;
    private final ShortageLog waits; // of requests for memory that only the host frees
    private final ShortageLog failures; // of requests for memory held by others
    private final ShortageLog excesses; // of requests that never fit: apart, so that their callers hide no failures
    private final BooleanSupplier busy;
    private final LongSupplier clock;
    private final PoolObservation observation;
    private final long alignment; // the provider's
    private final long capacity; // the provider's
    private long live;
    private long livePeak;
    private final HighWater mostLive = new HighWater();
    private long releasing; // bytes of reservations with an announced release
    private boolean isLeft; // whether the last attempt left memory to a request favoured by others' failures
    private boolean isGrowingForHeldBack; // whether a slab is on its way, asked for regardless of claims
    private boolean closed;

    Arbiter(
            PoolSet set,
            PoolSetBuilder builder,
            List<Pool> pools,
            Slabs slabs,
            DeathFrontiers deaths,
            DeathWatch deathWatch,
            AdmissionGate gate) {
        this.set = set;
        this.gate = gate;
        this.pools = pools;
        this.slabs = slabs;
        this.match = new Match(deaths);
        this.deathWatch = deathWatch;
        this.accounts = new Accounts(builder.quotas, gate);
        this.busy = builder.busy;
        this.clock = builder.clock;
        this.observation = builder.observation;
        this.alignment = builder.provider.alignment();
        this.capacity = builder.provider.capacity();
        this.detector = new DeadlockDetector(builder, set, pools, slabs, deaths, gate);
        this.shortage = new Shortage(builder, pools, slabs, detector.resolution(), detector.holdings(), accounts);
        this.waits = new ShortageLog(clock);
        this.failures = new ShortageLog(clock);
        this.excesses = new ShortageLog(clock);
        this.turns = new Turns(line, detector, slabs, gate, Math.min(builder.budget, capacity));
    }

    /** Whether nothing is reserved, so that nothing will be released. */
    boolean isNothingLive() {
        return live == 0;
    }

    // ---- Finding memory.

    /**
     * Grants a new request, if the request may overtake the line and memory is free.
     *
     * @param thorough whether to continue the search after a first look without a result, and to decide on acquiring a
     *     slab
     * @return null when no memory is free, or none before the arrival of the new slab
     * @throws IreeException when the request can never be granted
     */
    @Nullable
    Reservation admit(Pool pool, ReservationRequest request, boolean thorough) {
        long length = check(pool, request);
        Account account = account(request);
        MemoryHolder holder = request.holder();
        Holding holding = holder == null ? null : holder.knownHoldingIn(set);
        boolean isBehind = !request.persistent() && line.isHeldUp(request.age());
        if (isBehind && staysBehind(account)
                || isAnybodyWaiting()
                        && !turns.mayGo(null, pool, request.age(), account, holding, length, live)
                        && !isPromised(request, length)) {
            match.forget();
            return null;
        }
        return attempt(null, pool, request, account, request.age(), length, thorough);
    }

    /** Whether a request belongs to the inputs of a call admitted with the memory: such inputs do not give way to claims, which shut the gate. */
    private boolean isPromised(ReservationRequest request, long length) {
        MemoryHolder holder = request.holder();
        Admission given = request.persistent() && holder != null ? holder.admission(gate) : null;
        return given != null && gate.hasCommitted(given, given.held(set) + length);
    }

    private Account account(ReservationRequest request) {
        Account account = accounts.of(request.consumer());
        if (account.claim == null && account.quota != Long.MAX_VALUE) {
            account.claim = new Claim(account.quota, account, detector, gate);
        }
        return account;
    }

    /**
     * Returns the number of a pool's bytes taken by a request.
     *
     * @throws IreeException when the request can never be granted
     */
    long check(Pool pool, ReservationRequest request) {
        if (closed) {
            throw IreeException.of(
                    request.holder() == null ? StatusCode.FAILED_PRECONDITION : StatusCode.ABORTED,
                    "device is closed and allocates no more memory");
        }
        long length = pool.store.lengthFor(request.size());
        if (length > limit(pool, account(request))) {
            pool.failed();
            throw refused(
                    pool, request, shortage.never(pool, request, account(request)), new NeverFits(request.size()));
        }
        return length;
    }

    /** The number of grants so far. */
    long grants() {
        return turns.grants();
    }

    /** Counts the reason for the last request's refused blocks, if any. */
    void countRefusals(Pool pool) {
        pool.refused(match);
    }

    /** The largest request grantable to this account from the pool. */
    private long limit(Pool pool, Account account) {
        return Math.min(Math.min(slabs.budget, capacity), Math.min(pool.options.budget(), account.quota));
    }

    /**
     * Whether a consumer must not overtake a request that does not fit, though nobody has a claim. Memory released by
     * streams and still in use does not count: such memory comes back too, but is available now to requesters running
     * after its users.
     */
    private boolean staysBehind(Account account) {
        return releasing > 0 && account.transientLive == 0 && busy.getAsBoolean();
    }

    private @Nullable Reservation attempt(
            @Nullable Waiter waiter,
            Pool pool,
            ReservationRequest request,
            Account account,
            long age,
            long length,
            boolean thorough) {
        match.begin(request);
        isLeft = false;
        if (account.isOverQuota(length)) {
            return null;
        }
        long needed = pool.needed(length);
        Block block = find(waiter, pool, request, account, needed, thorough);
        if (block == null) {
            return null;
        }
        MemoryHolder holder = request.holder();
        Holding holding = holder == null ? null : holder.holdingIn(set);
        block.reserved(needed, request.persistent(), account, holding);
        if (!turns.leavesPlace(waiter, account, holding) && !isPromised(request, needed)) {
            isLeft = true;
            block.released();
            pool.store.give(block, block.death);
            return null;
        }
        pool.reserved(needed, request.persistent(), match.verdict());
        account.users++;
        detector.reserved(holding, account, needed, request.persistent(), turns.grants());
        turns.granted(age, pool, account, holding, request.persistent(), needed); // before the quota has less
        account.add(needed, request.persistent());
        live += needed;
        livePeak = Math.max(livePeak, live);
        mostLive.raise(live);
        Reservation reservation = new Reservation(
                pool,
                block,
                needed,
                account,
                holding,
                turns.grants(),
                request.persistent(),
                request.size(),
                match.waits());
        if (traced) {
            trace(reservation, "reserved");
        }
        PoolObserver observer = observation.observer();
        if (observer != null) {
            reservation.number(observer.reserved(reservation, request));
        }
        return reservation;
    }

    /** Returns the waits required before the requester uses its reservation; null when the requester must not use the reservation. */
    @Nullable
    List<NativeTimepoint> revalidate(Reservation reservation, Frontier after, NativeTimepoints timepoints) {
        match.begin(after, timepoints);
        boolean accepted = match.accepts(reservation.block);
        match.forget();
        return accepted ? match.waits() : null;
    }

    private @Nullable Block find(
            @Nullable Waiter waiter,
            Pool pool,
            ReservationRequest request,
            Account account,
            long needed,
            boolean thorough) {
        long aligned = Math.max(request.alignment(), alignment);
        Block block = pool.store.take(needed, aligned, match, REFUSALS_BEFORE_GROWTH);
        if (block != null || !thorough) {
            return block;
        }
        if (slabs.hasGrown()) { // the new slab is somewhere among the free blocks
            block = pool.store.take(needed, aligned, match, BlockStore.UNLIMITED);
        }
        if (block != null || request.prefersReuse() && match.wasRefused()) {
            return block; // a fitting block that is still in use will be free
        }
        isLeft = !mayGrow(waiter, pool, request, account, needed, aligned);
        if (!isLeft && slabs.grow(pools, pool, needed, aligned)) {
            return null; // the caller tries again once the slab has arrived
        }
        return pool.store.take(needed, aligned, match, BlockStore.UNLIMITED);
    }

    private boolean mayGrow(
            @Nullable Waiter waiter,
            Pool pool,
            ReservationRequest request,
            Account account,
            long needed,
            long aligned) {
        MemoryHolder holder = request.holder();
        Holding holding = holder == null ? null : holder.knownHoldingIn(set);
        long bytes = pool.store.growth(needed, aligned, Math.min(slabs.budget, pool.options.budget()));
        return turns.leavesPlace(waiter, account, holding, pool, bytes) || isPromised(request, needed);
    }

    // ---- Taking memory back.

    void announceRelease(Reservation reservation) {
        if (!reservation.released && !reservation.announced) {
            reservation.announced = true;
            releasing += reservation.length();
        }
    }

    private void trace(Reservation reservation, String what) {
        RESERVATIONS.trace(
                "set {} {} {} {} bytes {} for {}",
                System.identityHashCode(this),
                what,
                System.identityHashCode(reservation),
                reservation.size(),
                reservation.persistent ? "persistent" : "transient",
                reservation.account.name());
    }

    /** Accounts for a released reservation. */
    void released(Reservation reservation, @Nullable Frontier death) {
        if (traced) {
            trace(reservation, "released");
        }
        PoolObserver observer = observation.observer();
        if (observer != null && reservation.number() != 0) {
            observer.released(reservation, death == null ? reservation.death() : death);
        } else if (observer != null) {
            observer.releasedUnseen(reservation);
        }
        long length = reservation.length();
        reservation.pool.released(length, reservation.persistent);
        reservation.block.released();
        reservation.account.add(-length, reservation.persistent);
        reservation.account.users--;
        detector.released(reservation.holding, reservation.account, length, reservation.persistent);
        turns.released(reservation);
        live -= length;
        releasing -= reservation.announced ? length : 0;
    }

    // ---- The line.

    boolean isAnybodyWaiting() {
        return line.size() > 0;
    }

    /** Adds a request that was not granted to the line. */
    Waiter join(Pool pool, ReservationRequest request, ReservationListener listener) {
        Account account = account(request);
        account.users++;
        boolean byQuota = account.isOverQuota(pool.store.lengthFor(request.size()));
        Waiter waiter = new Waiter(
                request,
                pool,
                account,
                request.holder() instanceof MemoryHolder holder ? holder.holdingIn(set) : null,
                listener,
                request.age() == ReservationRequest.YOUNGEST ? set.nextAge() : request.age(),
                clock.getAsLong(),
                byQuota);
        line.add(waiter); // POOL-3
        pool.waits(waiter);
        detector.joined(waiter);
        watchDeaths();
        PoolObserver observer = observation.observer();
        if (observer != null) {
            observer.waits(pool, request);
        }
        if (waitsForHost(waiter)) {
            waits.warn(() -> "allocation of %d bytes waits for memory of results, tensors, inputs or programs: %s"
                    .formatted(request.size(), shortage.holders()));
        }
        return waiter;
    }

    /** Removes a request from the line, if present. */
    boolean leave(Waiter waiter) {
        if (!line.remove(waiter)) {
            return false;
        }
        left(waiter);
        serve();
        return true;
    }

    /** Fails and removes the first request in line that the system has refused even the smallest slab of a pool; returns false when there is none. */
    boolean failFirst(Pool pool, IreeException failure) {
        Waiter waiter = line.firstBefore(
                Long.MAX_VALUE, each -> each.pool.equals(pool) && slabs.isRefused(pool, pool.needed(each.length)));
        if (waiter == null || !leave(waiter)) {
            return false;
        }
        pool.fellShort(waiter.request);
        end(waiter, null, failure);
        return true;
    }

    /** Grants all grantable requests. Called after each release and completion. */
    void serve() {
        if (line.size() > 0 && line.serve(pools, serving)) {
            watchDeaths();
        }
        if (line.size() > 0) {
            detector.suspect(); // DEADLOCK-1
        }
    }

    /** Re-scans the line since work under way has ended. */
    void workEnded() {
        slabs.changed();
        detector.workEnded();
        serve();
    }

    /** Fails requests that have no prospect of memory or have waited too long. */
    void reviewLine() {
        if (closed) {
            return;
        }
        long now = clock.getAsLong();
        turns.endBefore(now);
        long grants = turns.grants();
        // Everything may wait for requests held back by claims.
        if (detector.isStill(now, slabs.isGrowingAnew(), grants)) {
            serveHeldBack();
        }
        boolean growing = slabs.isGrowingAnew() || turns.grants() > grants;
        for (DeadlockDetector.Verdict verdict : detector.review(line.all(), now, growing, this::serveHeldBack)) {
            Waiter waiter = verdict.waiter();
            if (verdict.helped() != null) {
                turns.help(verdict.helped());
            }
            String text = verdict.late()
                    ? shortage.late(waiter, now - waiter.since)
                    : verdict.helped() == null ? shortage.inVain(waiter) : shortage.forAnother(waiter);
            boolean isOwnFault = !verdict.late() && verdict.helped() == null && shortage.isOwnFault(waiter);
            NeverFits never = isOwnFault ? new NeverFits(waiter.request.size()) : null;
            if (line.remove(waiter)) { // POOL-2
                IreeException failure = refused(waiter.pool, waiter.request, text, never);
                left(waiter);
                if (never == null) {
                    waiter.pool.fellShort(waiter.request);
                } else {
                    waiter.pool.failed();
                }
                end(waiter, null, failure);
            }
        }
        if (!slabs.isGrowing()) {
            slabs.askAgain(Long.MAX_VALUE);
        }
        serve();
    }

    /** Serves the line regardless of claims, and returns whether a request was granted, or may be once a slab has arrived. */
    private boolean serveHeldBack() {
        long before = turns.grants();
        boolean wasGrowing = slabs.isGrowingAnew();
        turns.suspend(true);
        serve();
        turns.suspend(false);
        isGrowingForHeldBack = !wasGrowing && slabs.isGrowingAnew();
        return turns.grants() > before || isGrowingForHeldBack;
    }

    /** Serves the line after slabs have moved; regardless of claims, if the slab was acquired so. */
    void serveAfterMove() {
        if (isGrowingForHeldBack) {
            isGrowingForHeldBack = false;
            serveHeldBack();
        } else {
            serve();
        }
    }

    /** Serves the line. */
    private final class Serving implements WaitingLine.Grant {
        @Override
        public boolean mayGo(Waiter waiter, boolean isBehind) {
            return !(isBehind && staysBehind(waiter.account))
                            && turns.mayGo(
                                    waiter,
                                    waiter.pool,
                                    waiter.age,
                                    waiter.account,
                                    waiter.holding,
                                    waiter.length,
                                    live)
                    || isPromised(waiter.request, waiter.length);
        }

        @Override
        public Known grant(Waiter waiter) {
            Reservation reservation =
                    attempt(waiter, waiter.pool, waiter.request, waiter.account, waiter.age, waiter.length, true);
            if (reservation == null) {
                return isLeft ? Known.UNKNOWN : Known.NO;
            }
            left(waiter);
            end(waiter, reservation, null);
            return Known.YES;
        }
    }

    private void left(Waiter waiter) {
        detector.left(waiter);
        turns.left(waiter);
        waiter.account.users--;
        waiter.pool.waited(waiter, clock.getAsLong());
    }

    private static void end(Waiter waiter, @Nullable Reservation reservation, @Nullable IreeException failure) {
        HeldCallbacks.run(() -> waiter.listener.ended(reservation, failure));
    }

    /** Serves the line again whenever the last user of a free block has finished. */
    private void watchDeaths() {
        for (Pool pool : pools) {
            pool.store.forEachFree(deathWatch::watch);
        }
    }

    /** Whether a waiter cannot be granted, even once all work has finished, before the host frees memory kept by the host. */
    private boolean waitsForHost(Waiter waiter) {
        Pool pool = waiter.pool;
        long kept = pools.stream().mapToLong(Pool::persistentLive).sum();
        long room = Math.min(Math.min(slabs.budget, capacity) - kept, pool.options.budget() - pool.persistentLive());
        return pool.store.lengthFor(waiter.request.size())
                > Math.min(room, waiter.account.quota - waiter.account.persistentLive);
    }

    /** Records that a holder may have ended. */
    void reviewed(Holding holding) {
        detector.reviewed(holding);
    }

    // ---- Messages and statistics.

    /** Explains why a request would have to wait, for a caller unable to wait. */
    IreeException doesNotFitNow(Pool pool, ReservationRequest request) {
        return refused(pool, request, shortage.now(pool, request, account(request)), null);
    }

    private IreeException refused(Pool pool, ReservationRequest request, String text, @Nullable NeverFits never) {
        (never == null ? failures : excesses)
                .warn(() -> text + "; " + shortage.details(pool, request, account(request)));
        return IreeException.of(StatusCode.RESOURCE_EXHAUSTED, text, null, never);
    }

    PoolSetStatistics statistics() {
        long now = clock.getAsLong();
        List<PoolStatistics> all =
                pools.stream().map(pool -> statistics(pool, now)).toList();
        return new PoolSetStatistics(
                slabs.budget,
                all.stream().mapToLong(PoolStatistics::bytesTransient).sum(),
                all.stream().mapToLong(PoolStatistics::bytesPersistent).sum(),
                livePeak,
                slabs.bytes(),
                slabs.peak(),
                gate.committed(),
                line.size() + gate.waiting(),
                all,
                accounts.statistics());
    }

    /** The most bytes reserved at once since the last call of this method. */
    long takeMostLive() {
        return mostLive.take(() -> live);
    }

    PoolStatistics statistics(Pool pool) {
        return statistics(pool, clock.getAsLong());
    }

    private PoolStatistics statistics(Pool pool, long now) {
        return pool.snapshot(now, line.count(each -> each.pool.equals(pool) && waitsForHost(each)));
    }

    /** Grants nothing more; requests in line fail. */
    void close() {
        closed = true;
        for (Waiter waiter : line.removeAll()) {
            left(waiter);
            end(
                    waiter,
                    null,
                    IreeException.of(
                            StatusCode.ABORTED,
                            "device was closed while an allocation of %d bytes waited for memory"
                                    .formatted(waiter.request.size())));
        }
    }
}
