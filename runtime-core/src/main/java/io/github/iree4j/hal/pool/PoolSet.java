package io.github.iree4j.hal.pool;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.Block.Home;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
 * may go past, since it may need more before it can release what it has; and so may everybody while no release is on its way
 * ({@link Reservation#announceRelease}). So while one request fits, something progresses.
 *
 * <p>Safe from any thread.
 */
public final class PoolSet implements AutoCloseable {
    /*
     * Everything is guarded by `lock`, an innermost lock but for the provider's and those of timepoints and of the tracker. Callbacks,
     * the tracker's included, are held back while it is held.
     *
     * POOL-1: bytes are given out to one at a time, and only once what used them is over or is waited for.
     * POOL-2: a request that stands in line is granted, fails or is taken back, exactly once (leaving `line` under the lock).
     * POOL-3: no release is lost: a request joins the line under the lock that it looked under, and each release goes through the line.
     */

    /** How many free blocks are refused before a pool rather grows. A guess, not measured. */
    private static final int REFUSALS_BEFORE_GROWTH = 64;

    private static final Logger LOG = LoggerFactory.getLogger(PoolSet.class);

    private final Object lock = new Object();
    private final SlabProvider provider;
    private final FrontierTracker tracker;
    private final LongSupplier clock;
    private final long budget;
    private final long idleAfter;
    private final Map<String, Long> quotas;
    private final List<Pool> pools;
    private final DeathFrontiers deaths;
    private final Match match;
    private final Map<String, Account> accounts = new HashMap<>();
    private final LinkedHashSet<Waiter> line = new LinkedHashSet<>();
    private int waitingForMemory; // of those in line, not for a quota
    private long slabBytes;
    private long slabBytesPeak;
    private long live;
    private long livePeak;
    private long releasing; // bytes of reservations whose release was announced
    private long lastSweep;
    private boolean closed;

    private PoolSet(Builder builder) {
        this.provider = builder.provider;
        this.tracker = builder.tracker;
        this.clock = builder.clock;
        this.budget = builder.budget;
        this.idleAfter = builder.idleAfter;
        this.quotas = Map.copyOf(builder.quotas);
        this.deaths = new DeathFrontiers(tracker, builder.frontierCapacity);
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
    public static Builder builder(SlabProvider provider, FrontierTracker tracker) {
        return new Builder(provider, tracker);
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
        boolean held = HeldCallbacks.begin();
        try {
            synchronized (lock) {
                return admit(pool, request, account(request.consumer()));
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }

    Cancellation reserve(Pool pool, ReservationRequest request, ReservationListener listener) {
        Objects.requireNonNull(listener, "listener");
        boolean held = HeldCallbacks.begin();
        try {
            synchronized (lock) {
                Account account = account(request.consumer());
                Reservation reservation = admit(pool, request, account);
                if (reservation != null) {
                    HeldCallbacks.run(() -> listener.ended(reservation, null));
                    return Cancellation.OVER;
                }
                boolean byQuota = isOverQuota(account, pool.store.lengthFor(request.size()));
                Waiter waiter = new Waiter(request, pool, account, listener, clock.getAsLong(), byQuota);
                line.add(waiter); // POOL-3
                waitingForMemory += byQuota ? 0 : 1;
                pool.waits(waiter);
                watchDeaths();
                return waiter;
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }

    // ---- Under the lock: finding memory.

    private Account account(String consumer) {
        return accounts.computeIfAbsent(consumer, name -> new Account(name, quotas.getOrDefault(name, Long.MAX_VALUE)));
    }

    /** Grants a request that has just come, if it may go before those in line and there is something. */
    private @Nullable Reservation admit(Pool pool, ReservationRequest request, Account account) {
        if (closed) {
            throw new IreeException(StatusCode.FAILED_PRECONDITION, "device is closed and allocates no more memory");
        }
        long length = pool.store.lengthFor(request.size());
        if (length > limit(pool, account)) {
            pool.failed();
            throw neverFits(pool, request, account);
        }
        if (waitingForMemory > 0 && !request.persistent() && mustStayBehind(account)) {
            return null;
        }
        try {
            Reservation reservation = attempt(pool, request, account, length);
            pool.refused(match);
            return reservation;
        } catch (IreeException e) { // of the provider
            pool.failed();
            throw e;
        }
    }

    /** The most that a request of this account can ever get here. */
    private long limit(Pool pool, Account account) {
        return Math.min(Math.min(budget, pool.options.budget()), account.quota);
    }

    /** Whether a consumer may not go past a request that does not fit. */
    private boolean mustStayBehind(Account account) {
        return releasing > 0 && account.transientLive == 0;
    }

    private static boolean isOverQuota(Account account, long length) {
        return length > account.quota - account.live();
    }

    private @Nullable Reservation attempt(Pool pool, ReservationRequest request, Account account, long length) {
        match.begin(request);
        if (isOverQuota(account, length)) {
            return null;
        }
        // Nobody asks for nothing, but programs do: the smallest block, so that every buffer has an address of its own.
        long needed = Math.max(length, pool.store.lengthFor(1));
        long alignment = Math.max(request.alignment(), provider.alignment());
        Block block = pool.store.take(needed, alignment, match, REFUSALS_BEFORE_GROWTH);
        if (block == null) {
            if (grow(pool, needed, alignment)) {
                block = pool.store.take(needed, alignment, match, REFUSALS_BEFORE_GROWTH);
            }
            if (block == null) {
                block = pool.store.take(needed, alignment, match, BlockStore.UNLIMITED);
            }
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

    /** Adds a slab that holds so much, giving back others for it if need be. */
    private boolean grow(Pool pool, long length, long alignment) {
        long size;
        while ((size = pool.store.growth(length, alignment, room(pool))) == 0) {
            if (!shrink(pool, length)) {
                return false;
            }
        }
        Slab slab;
        try {
            slab = provider.acquire(size, alignment);
        } catch (IreeException e) {
            if (live == 0) {
                throw e;
            }
            return false; // what is released may do
        }
        pool.store.add(slab);
        pool.slabAdded(size);
        slabBytes += size;
        slabBytesPeak = Math.max(slabBytesPeak, slabBytes);
        return true;
    }

    private long room(Pool pool) {
        return Math.min(budget - slabBytes, pool.options.budget() - pool.slabBytes());
    }

    /** Gives back one slab that nobody uses, of this pool or, if it is the common budget that is short, of any. */
    private boolean shrink(Pool wanting, long length) {
        if (giveBackOne(wanting, home -> true)) {
            return true;
        }
        if (length > wanting.options.budget() - wanting.slabBytes()) {
            return false;
        }
        for (Pool pool : pools) {
            if (pool != wanting && giveBackOne(pool, home -> true)) {
                return true;
            }
        }
        return false;
    }

    private boolean giveBackOne(Pool pool, Predicate<Home> may) {
        Slab slab = pool.store.removeIdle(may, closed ? death -> true : deaths::isCompleted);
        if (slab == null) {
            return false;
        }
        pool.slabAdded(-slab.size());
        slabBytes -= slab.size();
        provider.release(slab);
        return true;
    }

    private IreeException neverFits(Pool pool, ReservationRequest request, Account account) {
        return new IreeException(
                StatusCode.RESOURCE_EXHAUSTED,
                "allocation of %d bytes exceeds the memory limit and can never fit: %s; raise the limit or use less at once"
                        .formatted(request.size(), describe(pool, account)));
    }

    /** Who has how much. */
    private String describe(Pool pool, Account account) {
        StringBuilder text = new StringBuilder("pool '%s' has %s, its largest free block %d bytes; all pools have %s"
                .formatted(
                        pool.name(),
                        of(pool.live(), pool.options.budget()),
                        pool.store.largestFree(),
                        of(live, budget)));
        if (account.quota != Long.MAX_VALUE) {
            text.append("; the quota of '%s' is %d bytes".formatted(account.consumer, account.quota));
        }
        accounts.values().stream()
                .filter(each -> each.live() > 0)
                .forEach(each -> text.append("; %s has %d bytes transient, %d persistent"
                        .formatted(each.name(), each.transientLive, each.persistentLive)));
        return text.toString();
    }

    private static String of(long bytes, long budget) {
        return budget == Long.MAX_VALUE
                ? bytes + " bytes in use and no budget"
                : "%d of %d bytes in use".formatted(bytes, budget);
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
            return new IreeException(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "allocation of %d bytes exceeds the memory limit now: %s; close buffers or raise the limit"
                            .formatted(request.size(), describe(pool, account(request.consumer()))));
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

    boolean release(Reservation reservation, Frontier death) {
        if (death.isTainted() && !death.hasProducer()) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "%s cannot be released with %s: nobody could tell when that is over; release it with the frontier of an operation"
                            .formatted(reservation, death));
        }
        return giveBack(reservation, death);
    }

    boolean cancel(Reservation reservation) {
        return giveBack(reservation, null);
    }

    private boolean giveBack(Reservation reservation, @Nullable Frontier death) {
        boolean held = HeldCallbacks.begin();
        try {
            synchronized (lock) {
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
                pool.store.give(block, death == null ? block.death : death);
                if (home.reserved == 0) {
                    cameBack(pool, home);
                }
                serveLine();
                return true;
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /** Nobody uses a slab any more. */
    private void cameBack(Pool pool, Home home) {
        if (closed) {
            giveBackOne(pool, any -> true);
            return;
        }
        if (idleAfter != Long.MAX_VALUE) {
            long now = clock.getAsLong();
            home.idleSince = now;
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
            if (!giveBackOne(pool, any -> true)) {
                pool.store.forEachFree(this::watch);
                return;
            }
        }
    }

    private long sweep(long now) {
        lastSweep = now;
        long before = slabBytes;
        for (Pool pool : pools) {
            while (giveBackOne(pool, home -> now - home.idleSince >= idleAfter)) {
                // one after the other
            }
        }
        return before - slabBytes;
    }

    // ---- The line.

    /** Grants what can be granted. Called whenever something has come back or completed. */
    private void serveLine() {
        if (line.isEmpty()) {
            return;
        }
        pools.forEach(pool -> pool.failedLength = Long.MAX_VALUE);
        boolean blocked = false;
        for (Iterator<Waiter> all = line.iterator(); all.hasNext(); ) {
            Waiter waiter = all.next();
            Pool pool = waiter.pool;
            long length = pool.store.lengthFor(waiter.request.size());
            boolean byQuota = isOverQuota(waiter.account, length);
            waitingForMemory += (waiter.byQuota ? 1 : 0) - (byQuota ? 1 : 0);
            waiter.byQuota = byQuota;
            if (byQuota) {
                continue;
            }
            if (blocked && mustStayBehind(waiter.account) || length >= pool.failedLength) {
                blocked = true;
                continue;
            }
            Reservation reservation;
            IreeException failure = null;
            try {
                reservation = attempt(pool, waiter.request, waiter.account, length);
            } catch (IreeException e) { // of the provider, with nothing left that could be released
                reservation = null;
                failure = e;
                pool.failed();
            }
            if (reservation == null && failure == null) {
                blocked = true;
                pool.failedLength = length;
                continue;
            }
            all.remove(); // POOL-2
            waitingForMemory--;
            pool.waited(waiter, clock.getAsLong());
            end(waiter, reservation, failure);
        }
        if (blocked) {
            watchDeaths();
        }
    }

    private static void end(Waiter waiter, @Nullable Reservation reservation, @Nullable IreeException failure) {
        HeldCallbacks.run(() -> waiter.listener.ended(reservation, failure));
    }

    boolean takeBack(Waiter waiter) {
        boolean held = HeldCallbacks.begin();
        try {
            synchronized (lock) {
                if (!line.remove(waiter)) { // POOL-2
                    return false;
                }
                waitingForMemory -= waiter.byQuota ? 0 : 1;
                waiter.pool.waited(waiter, clock.getAsLong());
                serveLine();
                return true;
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /** Somebody waits: looks again when the last user of some free block is over. */
    private void watchDeaths() {
        for (Pool pool : pools) {
            pool.store.forEachFree(this::watch);
        }
    }

    private void watch(Block block) {
        Frontier death = block.death;
        if (death == null || Objects.equals(death, block.watched) || deaths.isCompleted(death)) {
            return;
        }
        block.watched = death;
        try {
            // Of an axis that failed nobody knows when its work has ended: what it used is not looked at before its
            // next release.
            tracker.whenCompleted(deaths.toWaitFor(death), failure -> {
                if (failure == null) {
                    completed(block, death);
                }
            });
        } catch (IreeException e) {
            LOG.warn("memory that was freed with {} cannot be used again: {}", death, e.getMessage());
        }
    }

    private void completed(Block block, Frontier death) {
        boolean held = HeldCallbacks.begin();
        try {
            synchronized (lock) {
                if (Objects.equals(death, block.watched)) {
                    block.watched = null;
                }
                pools.forEach(this::keepWithin);
                serveLine();
            }
        } finally {
            HeldCallbacks.end(held);
        }
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
        synchronized (lock) {
            long before = slabBytes;
            while (giveBackOne(pool, any -> true)) {
                // one after the other
            }
            return before - slabBytes;
        }
    }

    /**
     * Gives slabs back that nobody has used for a while. Happens by itself when something is released, so this is only needed where
     * nothing is.
     *
     * @return how many bytes
     */
    public long trimIdle() {
        synchronized (lock) {
            return idleAfter == Long.MAX_VALUE ? 0 : sweep(clock.getAsLong());
        }
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
                    budget,
                    all.stream().mapToLong(PoolStatistics::bytesTransient).sum(),
                    all.stream().mapToLong(PoolStatistics::bytesPersistent).sum(),
                    livePeak,
                    slabBytes,
                    slabBytesPeak,
                    line.size(),
                    all,
                    accounts.values().stream().map(Account::statistics).toList());
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
        boolean held = HeldCallbacks.begin();
        try {
            synchronized (lock) {
                if (closed) {
                    return;
                }
                closed = true;
                long now = clock.getAsLong();
                for (Waiter waiter : line) {
                    waiter.pool.waited(waiter, now);
                    end(
                            waiter,
                            null,
                            new IreeException(
                                    StatusCode.ABORTED,
                                    "device was closed while an allocation of %d bytes waited for memory"
                                            .formatted(waiter.request.size())));
                }
                line.clear();
                waitingForMemory = 0;
                pools.forEach(this::trim);
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /** Gathers what a set is like. One thread. */
    public static final class Builder {
        private final SlabProvider provider;
        private final FrontierTracker tracker;
        private final List<PoolOptions> pools = new ArrayList<>();
        private final Map<String, Long> quotas = new HashMap<>();
        private LongSupplier clock = System::nanoTime;
        private long budget = Long.MAX_VALUE;
        private long idleAfter = Long.MAX_VALUE;
        private int frontierCapacity = Frontier.DEFAULT_CAPACITY;

        private Builder(SlabProvider provider, FrontierTracker tracker) {
            this.provider = Objects.requireNonNull(provider, "provider");
            this.tracker = Objects.requireNonNull(tracker, "tracker");
        }

        /**
         * Adds a pool. Requests are offered to pools in the order in which they were added.
         *
         * @param options what it is like
         * @return this builder
         */
        public Builder pool(PoolOptions options) {
            pools.add(Objects.requireNonNull(options, "options"));
            return this;
        }

        /**
         * Sets what all pools may take together.
         *
         * @param bytes the budget; no limit unless set
         * @return this builder
         */
        public Builder budget(long bytes) {
            this.budget = bytes;
            return this;
        }

        /**
         * Sets what one consumer may have.
         *
         * @param consumer its name
         * @param bytes the quota; no limit unless set
         * @return this builder
         */
        public Builder quota(String consumer, long bytes) {
            quotas.put(consumer, bytes);
            return this;
        }

        /**
         * Sets the clock that tells how long requests wait and slabs are idle.
         *
         * @param nanos nanoseconds since anything; {@link System#nanoTime} unless set
         * @return this builder
         */
        public Builder clock(LongSupplier nanos) {
            this.clock = Objects.requireNonNull(nanos, "nanos");
            return this;
        }

        /**
         * Sets how long slabs that nobody uses are kept.
         *
         * @param nanos nanoseconds; for ever unless set
         * @return this builder
         */
        public Builder idleAfter(long nanos) {
            this.idleAfter = nanos;
            return this;
        }

        /**
         * Sets how many entries the joined death frontier of a block may have.
         *
         * @param entries 1 to {@link Frontier#MAXIMUM_CAPACITY}; {@link Frontier#DEFAULT_CAPACITY} unless set
         * @return this builder
         */
        public Builder frontierCapacity(int entries) {
            this.frontierCapacity = entries;
            return this;
        }

        /**
         * Makes the set.
         *
         * @return the set; the caller closes it
         * @throws IreeException INVALID_ARGUMENT without pools, or for a budget or time below 0
         */
        public PoolSet build() {
            if (pools.isEmpty() || budget < 0 || idleAfter < 0) {
                throw new IreeException(
                        StatusCode.INVALID_ARGUMENT,
                        "a pool set has %d pools, budget %d and idle time %d; it needs a pool, and neither may be negative"
                                .formatted(pools.size(), budget, idleAfter));
            }
            return new PoolSet(this);
        }
    }
}
