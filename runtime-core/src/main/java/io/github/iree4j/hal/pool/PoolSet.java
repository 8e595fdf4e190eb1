package io.github.iree4j.hal.pool;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.Block.Home;
import io.github.iree4j.hal.pool.Slabs.Errand;
import io.github.iree4j.hal.pool.Slabs.Growth;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memory of one device: its pools, what they may take together, and the line of those who wait for memory.
 *
 * <p><b>Order.</b> A request looks at the free blocks that fit, smallest first. One whose last user is known to be over, or is among what
 * the requester runs after, is taken at once; one whose last user has left marks that the requester's hardware can wait for is taken with
 * as few of those waits as will do. Failing all, the pool grows by a slab, taking slabs that nobody uses from the other pools if the budget
 * says so. Failing that too, the request stands in line until something is released or completes.
 *
 * <p><b>Line.</b> Whoever came first goes first; nobody overtakes a request that does not fit yet, so that large ones get their turn. But
 * for what would be waiting for nothing: past a request that waits for its own quota everybody goes; a consumer that has transient memory
 * may go past, since it may need more before it can release what it has; and so may everybody unless a release is on its way
 * ({@link Reservation#announceRelease}) and work is under way that ends by itself ({@link PoolSetBuilder#busy}). So while one request
 * fits, something progresses.
 *
 * <p>Safe from any thread.
 */
public final class PoolSet implements AutoCloseable {
    /*
     * Everything is guarded by `lock`, an innermost lock but for those of timepoints and of the tracker. Callbacks, the tracker's
     * included, are held back while it is held. The provider is slow and called without it (see Slabs).
     *
     * POOL-1: bytes are given out to one at a time, and only once what used them is over or is waited for.
     * POOL-2: a request that stands in line is granted, fails or is taken back, exactly once (see WaitingLine).
     * POOL-3: no release is lost: a request joins the line under the lock that it looked under, and each release goes through the line.
     */

    /** How many free blocks are refused before a pool rather grows. A guess, not measured. */
    private static final int REFUSALS_BEFORE_GROWTH = 64;

    /** How many slabs one call gets before it leaves the rest to others: they take what it got. */
    private static final int GROWTHS_AT_ONCE = 16;

    private static final Logger LOG = LoggerFactory.getLogger(PoolSet.class);

    private static final String NEVER = "and can never fit: %s; raise the limit or use less at once";
    private static final String NOT_NOW = "now: %s; close buffers or raise the limit";

    private final Object lock = new Object();
    private final SlabProvider provider;
    private final LongSupplier clock;
    private final BooleanSupplier busy;
    private final long idleAfter;
    private final IdleAlarm alarm;
    private final List<Pool> pools;
    private final DeathWatch deathWatch;
    private final Slabs slabs;
    private final Match match;
    private final Accounts accounts;
    private final WaitingLine line = new WaitingLine();
    private long live;
    private long livePeak;
    private long releasing; // bytes of reservations whose release was announced
    private long lastSweep;
    private boolean closed;

    PoolSet(PoolSetBuilder builder) {
        this.provider = builder.provider;
        this.clock = builder.clock;
        this.busy = builder.busy;
        this.idleAfter = builder.idleAfter;
        this.alarm = new IdleAlarm(builder.delayed);
        this.accounts = new Accounts(builder.quotas);
        DeathFrontiers deaths = new DeathFrontiers(builder.tracker, builder.frontierCapacity);
        this.deathWatch = new DeathWatch(builder.tracker, deaths, this::completed);
        this.slabs = new Slabs(builder.budget, deaths);
        this.match = new Match(deaths);
        this.lastSweep = clock.getAsLong();
        this.pools = builder.pools.stream()
                .map(options -> new Pool(this, options, deaths, provider.alignment()))
                .toList();
    }

    /**
     * Begins a set.
     *
     * @param provider where its memory comes from
     * @param tracker what has completed; borrowed, it must stay open as long as the set is used
     * @return a builder
     */
    public static PoolSetBuilder builder(SlabProvider provider, FrontierTracker tracker) {
        return new PoolSetBuilder(provider, tracker);
    }

    /**
     * Returns the pools.
     *
     * @return in the order in which requests are offered to them
     */
    public List<Pool> pools() {
        return pools;
    }

    /**
     * Returns which pool a request goes to.
     *
     * @param request the request
     * @return the first that takes its memory type, usage, lifetime and size
     * @throws IreeException INVALID_ARGUMENT when none does
     */
    public Pool route(ReservationRequest request) {
        for (Pool pool : pools) {
            if (pool.takes(request)) {
                return pool;
            }
        }
        throw new IreeException(
                StatusCode.INVALID_ARGUMENT,
                "no pool takes %s memory of %d bytes with type 0x%x and usage 0x%x; there are: %s"
                        .formatted(
                                request.persistent() ? "persistent" : "transient",
                                request.size(),
                                request.memoryType(),
                                request.usage(),
                                pools.stream().map(Pool::name).collect(Collectors.joining(", "))));
    }

    /**
     * Reserves memory if that is possible now.
     *
     * @param request who asks for how much
     * @return the reservation, the caller's; null when the request would have to wait
     * @throws IreeException RESOURCE_EXHAUSTED when it can never fit, with who has how much; INVALID_ARGUMENT when no pool takes it;
     *     FAILED_PRECONDITION when the set is closed
     */
    public @Nullable Reservation tryReserve(ReservationRequest request) {
        return tryReserve(route(request), request);
    }

    /**
     * Reserves memory as soon as that is possible. Requests wait in line.
     *
     * @param request who asks for how much
     * @param listener told how it ended, at once if it can be granted at once
     * @return takes the request back
     * @throws IreeException as {@link #tryReserve}; the listener is not told then
     */
    public Cancellation reserve(ReservationRequest request, ReservationListener listener) {
        return reserve(route(request), request, listener);
    }

    @Nullable
    Reservation tryReserve(Pool pool, ReservationRequest request) {
        return seek(pool, request, null).reservation;
    }

    Cancellation reserve(Pool pool, ReservationRequest request, ReservationListener listener) {
        Found found = seek(pool, request, Objects.requireNonNull(listener, "listener"));
        return found.waiter == null ? Cancellation.OVER : found.waiter;
    }

    /** What became of a request: memory, a place in line, or neither. */
    private record Found(
            @Nullable Reservation reservation, @Nullable Waiter waiter) {}

    /** Gets memory for a request, or with a listener a place in line; the pool grows for it if it may and can. */
    private Found seek(Pool pool, ReservationRequest request, @Nullable ReservationListener listener) {
        boolean held = HeldCallbacks.begin();
        try {
            Growth growth = null;
            Slab slab = null;
            IreeException failure = null;
            for (int growths = 0; ; growths++) {
                Reservation reservation = null;
                Waiter waiter = null;
                IreeException refusal = null;
                Errand errand;
                Errand others = Errand.NONE;
                synchronized (lock) {
                    boolean mayGrow = growth == null || arrived(growth, slab);
                    slabs.begin(mayGrow && growths < GROWTHS_AT_ONCE, growths > 0);
                    try {
                        reservation = admit(pool, request, accounts.of(request.consumer()));
                    } catch (IreeException e) {
                        refusal = e; // once what was decided before has been done
                    }
                    errand = slabs.takeErrand();
                    growth = errand.growth;
                    if (reservation == null && growth == null && refusal == null) {
                        if (failure != null && live == 0) { // nothing will be released
                            pool.failed();
                            refusal = failure;
                        } else {
                            waiter = listener == null ? null : join(pool, request, listener);
                        }
                    }
                    if (growth == null
                            && growths > 0) { // others joined the line meanwhile, and what kept them off has changed
                        slabs.begin(true, true);
                        serveLine();
                        others = slabs.takeErrand();
                    }
                }
                giveBack(errand);
                if (growth == null) {
                    run(others);
                    if (refusal != null) {
                        throw refusal;
                    }
                    Reservation granted = reservation;
                    if (granted != null && listener != null) {
                        HeldCallbacks.run(() -> listener.ended(granted, null));
                    }
                    return new Found(reservation, waiter);
                }
                try {
                    slab = acquire(growth);
                    failure = null;
                } catch (IreeException e) {
                    slab = null;
                    failure = e;
                }
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /** Without the lock: asks the provider. Whatever it throws, the bytes are not to be lost from the books. */
    private Slab acquire(Growth growth) {
        try {
            return provider.acquire(growth.size(), growth.alignment());
        } catch (IreeException e) {
            throw e;
        } catch (RuntimeException | OutOfMemoryError e) {
            throw new IreeException(
                    StatusCode.RESOURCE_EXHAUSTED, "no slab of %d bytes: %s".formatted(growth.size(), e), e);
        }
    }

    /** Without the lock: gives slabs back to the provider. One that it does not take back keeps nobody from theirs. */
    private void giveBack(Errand errand) {
        for (Slab slab : errand.back) {
            try {
                provider.release(slab);
            } catch (RuntimeException e) {
                LOG.warn("slab of {} bytes could not be given back, its memory is lost", slab.size(), e);
            }
        }
    }

    /** Under the lock: a slab has come, or not; returns whether it is of use to ask for one again. */
    private boolean arrived(Growth growth, @Nullable Slab slab) {
        slabs.got(growth, slab);
        if (slab != null) {
            return true;
        }
        long before = slabs.bytes();
        pools.forEach(pool -> giveBackAll(pool, any -> true)); // the system may be short of just what is kept
        return slabs.bytes() < before;
    }

    /** Under the lock: puts a request that was not granted in line. */
    private Waiter join(Pool pool, ReservationRequest request, ReservationListener listener) {
        Account account = accounts.of(request.consumer());
        boolean byQuota = account.isOverQuota(pool.store.lengthFor(request.size()));
        Waiter waiter = new Waiter(request, pool, account, listener, clock.getAsLong(), byQuota);
        line.add(waiter); // POOL-3
        pool.waits(waiter);
        watchDeaths();
        return waiter;
    }

    /** Without the lock: does what was decided under it for those in line. */
    private void run(Errand decided) {
        int growths = 0;
        for (Errand errand = decided; errand != Errand.NONE; growths++) {
            giveBack(errand);
            Growth growth = errand.growth;
            if (growth == null) {
                return;
            }
            Slab slab = null;
            IreeException failure = null;
            try {
                slab = acquire(growth);
            } catch (IreeException e) {
                failure = e;
            }
            synchronized (lock) {
                if (arrived(growth, slab) || failure == null) {
                    slabs.begin(growths < GROWTHS_AT_ONCE, true);
                    serveLine();
                } else if (live == 0) { // nothing will be released
                    slabs.begin(true, true); // for those behind it
                    failFirst(growth.pool(), failure);
                }
                errand = slabs.takeErrand();
            }
        }
    }

    private void failFirst(Pool pool, IreeException failure) {
        Waiter waiter = line.firstOf(pool);
        if (waiter != null && leave(waiter)) {
            pool.failed();
            end(waiter, null, failure);
        }
    }

    // ---- Under the lock: finding memory.

    /** Grants a request that has just come, if it may go before those in line and there is something. */
    private @Nullable Reservation admit(Pool pool, ReservationRequest request, Account account) {
        if (closed) {
            throw new IreeException(StatusCode.FAILED_PRECONDITION, "device is closed and allocates no more memory");
        }
        long length = pool.store.lengthFor(request.size());
        if (length > limit(pool, account)) {
            pool.failed();
            throw accounts.exhausted(pool, request, live, slabs.budget, NEVER);
        }
        if (line.isHeldUp() && !request.persistent() && mustStayBehind(account)) {
            return null;
        }
        Reservation reservation = attempt(pool, request, account, length);
        pool.refused(match);
        return reservation;
    }

    /** The most that a request of this account can ever get here. */
    private long limit(Pool pool, Account account) {
        return Math.min(Math.min(slabs.budget, pool.options.budget()), account.quota);
    }

    /** Whether a consumer may not go past a request that does not fit. */
    private boolean mustStayBehind(Account account) {
        return releasing > 0 && account.transientLive == 0 && busy.getAsBoolean();
    }

    private @Nullable Reservation attempt(Pool pool, ReservationRequest request, Account account, long length) {
        match.begin(request);
        if (account.isOverQuota(length)) {
            return null;
        }
        // Nobody asks for nothing, but programs do: the smallest block, so that every buffer has an address of its own.
        long needed = Math.max(length, pool.store.lengthFor(1));
        long alignment = Math.max(request.alignment(), provider.alignment());
        Block block = pool.store.take(needed, alignment, match, REFUSALS_BEFORE_GROWTH);
        if (block == null && slabs.hasGrown()) { // the new slab is there, wherever it is among the free blocks
            block = pool.store.take(needed, alignment, match, BlockStore.UNLIMITED);
        }
        if (block == null) {
            if (slabs.grow(pools, pool, needed, alignment)) {
                return null; // and then again
            }
            block = pool.store.take(needed, alignment, match, BlockStore.UNLIMITED);
            if (block == null) {
                return null;
            }
        }
        pool.reserved(block.length, request.persistent(), match.verdict());
        account.add(block.length, request.persistent());
        live += block.length;
        livePeak = Math.max(livePeak, live);
        return new Reservation(pool, block, account, request.persistent(), request.size(), match.waits());
    }

    /**
     * Explains why a request would have to wait, for those who cannot.
     *
     * @param request the request
     * @return RESOURCE_EXHAUSTED with who has how much
     */
    public IreeException doesNotFitNow(ReservationRequest request) {
        Pool pool = route(request);
        synchronized (lock) {
            pool.failed();
            return accounts.exhausted(pool, request, live, slabs.budget, NOT_NOW);
        }
    }

    // ---- Giving back.

    void announceRelease(Reservation reservation) {
        synchronized (lock) {
            if (!reservation.released && !reservation.announced) {
                reservation.announced = true;
                releasing += reservation.length();
            }
        }
    }

    boolean release(Reservation reservation, Frontier death, boolean accessed) {
        if (death.isTainted() && !death.hasProducer()) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "%s cannot be released with %s: nobody could tell when that is over; release it with the frontier of an operation"
                            .formatted(reservation, death));
        }
        return giveBack(reservation, death, accessed);
    }

    boolean cancel(Reservation reservation) {
        return giveBack(reservation, null, false);
    }

    private boolean giveBack(Reservation reservation, @Nullable Frontier death, boolean accessed) {
        return locked(() -> {
            if (reservation.released) {
                return false;
            }
            reservation.released = true;
            Pool pool = reservation.pool;
            Block block = reservation.block;
            Home home = block.home;
            long length = block.length;
            pool.released(length, reservation.persistent);
            reservation.account.add(-length, reservation.persistent);
            live -= length;
            releasing -= reservation.announced ? length : 0;
            if (accessed) {
                reservation.accessed = home;
                home.accessed++;
            }
            pool.store.give(block, death == null ? block.death : death);
            if (home.reserved == 0) {
                cameBack(pool, home);
            }
            serveLine();
            return true;
        });
    }

    void accessEnded(Reservation reservation) {
        locked(() -> {
            Home home = reservation.accessed;
            if (home != null) {
                reservation.accessed = null;
                if (--home.accessed == 0 && home.reserved == 0) {
                    cameBack(reservation.pool, home);
                    serveLine();
                }
            }
            return true;
        });
    }

    /** Does something under the lock, and then what was decided about slabs without it. */
    private boolean locked(BooleanSupplier action) {
        boolean held = HeldCallbacks.begin();
        try {
            boolean result;
            Errand errand;
            synchronized (lock) {
                slabs.begin(true, false);
                result = action.getAsBoolean();
                errand = slabs.takeErrand();
            }
            run(errand);
            return result;
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /** Nobody uses a slab any more. */
    private void cameBack(Pool pool, Home home) {
        if (closed) {
            slabs.giveBackOne(pool, any -> true);
            return;
        }
        if (idleAfter != Long.MAX_VALUE) {
            long now = clock.getAsLong();
            home.idleSince = now;
            alarm.arm(this, idleAfter);
            if (now - lastSweep >= idleAfter) {
                sweep(now);
            }
        }
        keepWithin(pool);
    }

    /** Gives back what a pool has beyond what it may keep. What is not over yet is looked at again when it is. */
    private void keepWithin(Pool pool) {
        if (pool.options.retained() == Long.MAX_VALUE) {
            return;
        }
        while (pool.slabBytes() - pool.live() > pool.options.retained()) {
            if (!slabs.giveBackOne(pool, any -> true)) {
                pool.store.forEachFree(deathWatch::watch);
                return;
            }
        }
    }

    private void sweep(long now) {
        lastSweep = now;
        for (Pool pool : pools) {
            giveBackAll(pool, home -> now - home.idleSince >= idleAfter);
        }
    }

    /** Slabs may have been idle for long enough. Those that are idle still are looked at again when it is their turn. */
    void woken() {
        locked(() -> {
            alarm.rang();
            if (!closed) {
                long now = clock.getAsLong();
                sweep(now);
                long next = nextIdle(now);
                if (next > 0) {
                    alarm.arm(this, next);
                }
            }
            return true;
        });
    }

    /** In how many nanoseconds a slab that nobody uses may go back; 0 when there is none. */
    private long nextIdle(long now) {
        long[] next = {Long.MAX_VALUE};
        for (Pool pool : pools) {
            pool.store.idleBytes(
                    home -> {
                        long left = idleAfter - (now - home.idleSince);
                        next[0] = Math.min(next[0], left > 0 ? left : idleAfter); // or its last user is not over
                        return true;
                    },
                    any -> true);
        }
        return next[0] == Long.MAX_VALUE ? 0 : next[0];
    }

    private void giveBackAll(Pool pool, Predicate<Home> may) {
        while (slabs.giveBackOne(pool, may)) {
            // one after the other
        }
    }

    // ---- The line.

    /** Grants what can be granted. Called whenever something has come back or completed. */
    private void serveLine() {
        if (line.size() > 0 && line.serve(pools, this::mustStayBehind, this::grant)) {
            watchDeaths();
        }
    }

    /** Grants memory to somebody in line, if there is some. */
    private boolean grant(Waiter waiter, long length) {
        Reservation reservation = attempt(waiter.pool, waiter.request, waiter.account, length);
        if (reservation == null) {
            return false;
        }
        waiter.pool.waited(waiter, clock.getAsLong());
        end(waiter, reservation, null);
        return true;
    }

    private static void end(Waiter waiter, @Nullable Reservation reservation, @Nullable IreeException failure) {
        HeldCallbacks.run(() -> waiter.listener.ended(reservation, failure));
    }

    boolean takeBack(Waiter waiter) {
        return locked(() -> leave(waiter));
    }

    /** Under the lock: takes a request out of the line, if it is there. */
    private boolean leave(Waiter waiter) {
        if (!line.remove(waiter)) {
            return false;
        }
        waiter.pool.waited(waiter, clock.getAsLong());
        serveLine();
        return true;
    }

    /** Somebody waits: looks again when the last user of some free block is over. */
    private void watchDeaths() {
        for (Pool pool : pools) {
            pool.store.forEachFree(deathWatch::watch);
        }
    }

    /** The last user of some free block is over. */
    private void completed() {
        locked(() -> {
            pools.forEach(this::keepWithin);
            serveLine();
            return true;
        });
    }

    /** Work that was under way has ended: whoever waited for what it frees waits for nothing now, so whoever fits may go. */
    public void idle() {
        locked(() -> {
            serveLine();
            return true;
        });
    }

    // ---- Housekeeping.

    /**
     * Gives all slabs that nobody uses back to the provider.
     *
     * @return how many bytes
     */
    public long trim() {
        return pools.stream().mapToLong(this::trim).sum();
    }

    long trim(Pool pool) {
        return measured(() -> giveBackAll(pool, any -> true));
    }

    /** Does something under the lock that gives slabs back; returns how many bytes. */
    private long measured(Runnable action) {
        long[] bytes = new long[1];
        locked(() -> {
            bytes[0] = slabs.bytes();
            action.run();
            bytes[0] -= slabs.bytes();
            return true;
        });
        return bytes[0];
    }

    /**
     * Gives slabs back that nobody has used for a while. Happens by itself, see {@link PoolSetBuilder#delayed}.
     *
     * @return how many bytes
     */
    public long trimIdle() {
        return measured(() -> {
            if (idleAfter != Long.MAX_VALUE) {
                sweep(clock.getAsLong());
            }
        });
    }

    /**
     * Returns what the pools have done, and what they have.
     *
     * @return a snapshot
     */
    public PoolSetStatistics statistics() {
        synchronized (lock) {
            long now = clock.getAsLong();
            List<PoolStatistics> all =
                    pools.stream().map(pool -> pool.snapshot(now)).toList();
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
    }

    PoolStatistics statistics(Pool pool) {
        synchronized (lock) {
            return pool.snapshot(clock.getAsLong());
        }
    }

    void verify(Pool pool) {
        synchronized (lock) {
            pool.store.verify();
        }
    }

    /**
     * Gives out nothing more: requests in line fail, and memory goes back to the provider as it is released, at once and whatever its
     * death frontier says. So whoever closes it has stopped the hardware before. Harmless when repeated.
     */
    @Override
    public void close() {
        locked(() -> {
            if (closed) {
                return false;
            }
            closed = true;
            slabs.close();
            long now = clock.getAsLong();
            for (Waiter waiter : line.removeAll()) {
                waiter.pool.waited(waiter, now);
                end(
                        waiter,
                        null,
                        new IreeException(
                                StatusCode.ABORTED,
                                "device was closed while an allocation of %d bytes waited for memory"
                                        .formatted(waiter.request.size())));
            }
            pools.forEach(pool -> giveBackAll(pool, any -> true));
            return true;
        });
    }
}
