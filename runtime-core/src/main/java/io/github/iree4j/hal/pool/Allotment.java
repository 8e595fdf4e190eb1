package io.github.iree4j.hal.pool;

import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Decides who gets memory: those who ask, and those in line, see {@link PoolSet}. Keeps the books. Guarded by the lock of the set. */
final class Allotment {
    private static final Logger LOG = LoggerFactory.getLogger(Allotment.class);

    /** How many free blocks are refused before a pool rather grows. A guess, not measured. */
    private static final int REFUSALS_BEFORE_GROWTH = 64;

    private static final String NEVER = "and can never fit: %s; raise the limit or use less at once";
    private static final String NOT_NOW = "now: %s; close buffers or raise the limit";

    /** Says at TRACE what is reserved and released, which {@code bin/reservations} makes a recording of. */
    private static final Logger RESERVATIONS = LoggerFactory.getLogger(Reservation.class);

    private final boolean traced =
            RESERVATIONS.isTraceEnabled(); // asked once: there is one for each result of each call
    private final List<Pool> pools;
    private final Slabs slabs;
    private final Match match;
    private final DeathWatch deathWatch;
    private final Accounts accounts;
    private final WaitingLine line = new WaitingLine();
    private final PoolSet set;
    private final Knots knots;
    private final BooleanSupplier busy;
    private final LongSupplier clock;
    private final long alignment; // the provider's
    private final long capacity; // the provider's
    private long live;
    private long livePeak;
    private long releasing; // bytes of reservations whose release was announced
    private boolean closed;

    Allotment(
            PoolSet set,
            PoolSetBuilder builder,
            List<Pool> pools,
            Slabs slabs,
            DeathFrontiers deaths,
            DeathWatch deathWatch) {
        this.set = set;
        this.pools = pools;
        this.slabs = slabs;
        this.match = new Match(deaths);
        this.deathWatch = deathWatch;
        this.accounts = new Accounts(builder.quotas, builder.patience, builder.hostPatience);
        this.busy = builder.busy;
        this.clock = builder.clock;
        this.alignment = builder.provider.alignment();
        this.capacity = builder.provider.capacity();
        this.knots = new Knots(builder, set, pools, deaths);
    }

    /** Whether nothing is given out, so that nothing will be released. */
    boolean isNothingLive() {
        return live == 0;
    }

    // ---- Finding memory.

    /**
     * Grants a request that has just come, if it may go before those in line and there is something.
     *
     * @param thorough whether to go on once there is nothing at first sight, and decide to get a slab
     * @return null when there is nothing, or not before a slab has come that it decided to get
     * @throws IreeException why it will never get any
     */
    @Nullable
    Reservation admit(Pool pool, ReservationRequest request, boolean thorough) {
        long length = check(pool, request);
        Account account = accounts.of(request.consumer());
        if (line.isHeldUp(request.age()) && !request.persistent() && mustStayBehind(account)) {
            match.forget();
            return null;
        }
        return attempt(pool, request, account, length, thorough);
    }

    /**
     * Returns how many bytes of a pool a request takes.
     *
     * @throws IreeException why it will never get any
     */
    long check(Pool pool, ReservationRequest request) {
        if (closed) {
            throw new IreeException(StatusCode.FAILED_PRECONDITION, "device is closed and allocates no more memory");
        }
        long length = pool.store.lengthFor(request.size());
        if (length > limit(pool, accounts.of(request.consumer()))) {
            pool.failed();
            throw exhausted(pool, request, NEVER);
        }
        return length;
    }

    /** Counts why the last request was refused blocks, if it was. */
    void countRefusals(Pool pool) {
        pool.refused(match);
    }

    /** The most that a request of this account can ever get here. */
    private long limit(Pool pool, Account account) {
        return Math.min(Math.min(slabs.budget, capacity), Math.min(pool.options.budget(), account.quota));
    }

    /** Whether a consumer may not go past a request that does not fit. */
    private boolean mustStayBehind(Account account) {
        return releasing > 0 && account.transientLive == 0 && busy.getAsBoolean();
    }

    private @Nullable Reservation attempt(
            Pool pool, ReservationRequest request, Account account, long length, boolean thorough) {
        match.begin(request);
        if (account.isOverQuota(length)) {
            return null;
        }
        Block block = find(pool, request, length, thorough);
        if (block == null) {
            return null;
        }
        pool.reserved(block.length, request.persistent(), match.verdict());
        account.add(block.length, request.persistent());
        account.users++;
        MemoryHolder holder = request.holder();
        MemoryHolder.Stake stake = holder == null ? null : holder.stakeIn(set);
        knots.reserved(stake, account, block.length, request.persistent());
        live += block.length;
        livePeak = Math.max(livePeak, live);
        Reservation reservation =
                new Reservation(pool, block, account, stake, request.persistent(), request.size(), match.waits());
        if (traced) {
            trace(reservation, "reserved");
        }
        return reservation;
    }

    /** What a requester must wait for to use what it has reserved; null when it may not use it. */
    @Nullable
    List<NativeTimepoint> revalidate(Reservation reservation, Frontier after, NativeTimepoints timepoints) {
        match.begin(after, timepoints);
        boolean accepted = match.accepts(reservation.block);
        match.forget();
        return accepted ? match.waits() : null;
    }

    private @Nullable Block find(Pool pool, ReservationRequest request, long length, boolean thorough) {
        // Nobody asks for nothing, but programs do: the smallest block, so that every buffer has an address of its own.
        long needed = Math.max(length, pool.store.lengthFor(1));
        long aligned = Math.max(request.alignment(), alignment);
        Block block = pool.store.take(needed, aligned, match, REFUSALS_BEFORE_GROWTH);
        if (block != null || !thorough) {
            return block;
        }
        if (slabs.hasGrown()) { // the new slab is there, wherever it is among the free blocks
            block = pool.store.take(needed, aligned, match, BlockStore.UNLIMITED);
        }
        if (block != null || request.prefersReuse() && match.wasRefused()) {
            return block; // what fits and is not over yet will be
        }
        if (slabs.grow(pools, pool, needed, aligned)) {
            return null; // and then again
        }
        return pool.store.take(needed, aligned, match, BlockStore.UNLIMITED);
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

    /** Notes that a reservation has come back. */
    void released(Reservation reservation) {
        if (traced) {
            trace(reservation, "released");
        }
        long length = reservation.block.length;
        reservation.pool.released(length, reservation.persistent);
        reservation.account.add(-length, reservation.persistent);
        reservation.account.users--;
        knots.released(reservation.stake, reservation.account, length, reservation.persistent);
        live -= length;
        releasing -= reservation.announced ? length : 0;
    }

    // ---- The line.

    boolean isAnybodyWaiting() {
        return line.size() > 0;
    }

    /** Puts a request that was not granted in line. */
    Waiter join(Pool pool, ReservationRequest request, ReservationListener listener) {
        Account account = accounts.of(request.consumer());
        account.users++;
        boolean byQuota = account.isOverQuota(pool.store.lengthFor(request.size()));
        Waiter waiter = new Waiter(
                request,
                pool,
                account,
                request.holder() instanceof MemoryHolder holder ? holder.stakeIn(set) : null,
                listener,
                request.age() == ReservationRequest.YOUNGEST ? set.nextAge() : request.age(),
                clock.getAsLong(),
                byQuota);
        line.add(waiter); // POOL-3
        pool.waits(waiter);
        knots.joined(waiter);
        watchDeaths();
        if (waitsForHost(waiter)) {
            LOG.warn(
                    "allocation of {} bytes waits until the host frees some of what it keeps: {}",
                    request.size(),
                    describe(pool, account));
        }
        return waiter;
    }

    /** Takes a request out of the line, if it is there. */
    boolean leave(Waiter waiter) {
        if (!line.remove(waiter)) {
            return false;
        }
        left(waiter);
        serve();
        return true;
    }

    /** Fails the first in line for a pool, which is not there any more then. */
    void failFirst(Pool pool, IreeException failure) {
        Waiter waiter = line.firstOf(pool);
        if (waiter != null && leave(waiter)) {
            pool.failed();
            end(waiter, null, failure);
        }
    }

    /** Grants what can be granted. Called whenever something has come back or completed. */
    void serve() {
        if (line.size() > 0 && line.serve(pools, this::mustStayBehind, this::grant)) {
            watchDeaths();
        }
        if (line.size() > 0) {
            knots.suspect(); // KNOT-1
        }
    }

    /** Fails those who wait in vain, or have waited for too long. */
    void reviewLine() {
        if (closed) {
            return;
        }
        for (Knots.Verdict verdict : knots.review(line.all(), clock.getAsLong(), slabs.isGrowing())) {
            Waiter waiter = verdict.waiter();
            if (line.remove(waiter)) { // POOL-2
                left(waiter);
                waiter.pool.failed();
                String text = "allocation of %d bytes%s; %s"
                        .formatted(waiter.request.size(), verdict.why(), describe(waiter.pool, waiter.account));
                LOG.warn(text);
                end(waiter, null, new IreeException(StatusCode.RESOURCE_EXHAUSTED, text + Knots.REMEDY));
            }
        }
        serve();
    }

    /** Grants memory to somebody in line, if there is some. */
    private boolean grant(Waiter waiter, long length) {
        Reservation reservation = attempt(waiter.pool, waiter.request, waiter.account, length, true);
        if (reservation == null) {
            return false;
        }
        left(waiter);
        end(waiter, reservation, null);
        return true;
    }

    private void left(Waiter waiter) {
        knots.left(waiter);
        waiter.account.users--;
        waiter.pool.waited(waiter, clock.getAsLong());
    }

    private static void end(Waiter waiter, @Nullable Reservation reservation, @Nullable IreeException failure) {
        HeldCallbacks.run(() -> waiter.listener.ended(reservation, failure));
    }

    /** Somebody waits: looks again when the last user of some free block is over. */
    private void watchDeaths() {
        for (Pool pool : pools) {
            pool.store.forEachFree(deathWatch::watch);
        }
    }

    /** Whether somebody in line gets nothing, even once all work is over, before the host frees some of what it keeps. */
    private boolean waitsForHost(Waiter waiter) {
        Pool pool = waiter.pool;
        long kept = pools.stream().mapToLong(Pool::persistentLive).sum();
        long room = Math.min(Math.min(slabs.budget, capacity) - kept, pool.options.budget() - pool.persistentLive());
        return pool.store.lengthFor(waiter.request.size())
                > Math.min(room, waiter.account.quota - waiter.account.persistentLive);
    }

    /** Notes that a holder may be over. */
    void reviewed(MemoryHolder.Stake stake) {
        knots.reviewed(stake);
    }

    AdmissionGate gate() {
        return knots.gate;
    }

    @Nullable
    AdmissionGate gate(String consumer) {
        return accounts.gate(consumer);
    }

    // ---- What there is to say.

    /** Explains why a request would have to wait, for those who cannot. */
    IreeException doesNotFitNow(Pool pool, ReservationRequest request) {
        pool.failed();
        return exhausted(pool, request, NOT_NOW);
    }

    private IreeException exhausted(Pool pool, ReservationRequest request, String how) {
        return new IreeException(
                StatusCode.RESOURCE_EXHAUSTED,
                "allocation of %d bytes exceeds the memory limit %s"
                        .formatted(request.size(), how.formatted(describe(pool, accounts.of(request.consumer())))));
    }

    private String describe(Pool pool, Account account) {
        return accounts.describe(pool, account, live, slabs.budget, capacity);
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
                line.size(),
                all,
                accounts.statistics());
    }

    PoolStatistics statistics(Pool pool) {
        return statistics(pool, clock.getAsLong());
    }

    private PoolStatistics statistics(Pool pool, long now) {
        return pool.snapshot(now, line.count(each -> each.pool.equals(pool) && waitsForHost(each)));
    }

    /** Gives out nothing more; requests in line fail. */
    void close() {
        closed = true;
        for (Waiter waiter : line.removeAll()) {
            left(waiter);
            end(
                    waiter,
                    null,
                    new IreeException(
                            StatusCode.ABORTED,
                            "device was closed while an allocation of %d bytes waited for memory"
                                    .formatted(waiter.request.size())));
        }
    }
}
