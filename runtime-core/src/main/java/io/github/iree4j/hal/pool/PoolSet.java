package io.github.iree4j.hal.pool;

import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.Block.Home;
import io.github.iree4j.hal.pool.Slabs.Errand;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one device: its pools, what they may take together, and the line of those who wait for memory.
 *
 * <p><b>Order.</b> A request looks at the free blocks that fit, smallest first. One whose last user is known to be over, or is among what
 * the requester runs after, is taken at once; one whose last user has left marks that the requester's hardware can wait for is taken with
 * as few of those waits as will do. Failing all, the pool grows by a slab, taking slabs that nobody uses from the other pools if the budget
 * says so. Failing that too, the request stands in line until something is released or completes.
 *
 * <p><b>Line.</b> Whoever asked first goes first, also when it gave memory back unused in between ({@link #reserveInstead}); nobody overtakes a request that does not fit yet, so that large ones get their turn. But
 * for what would be waiting for nothing: past a request that waits for its own quota everybody goes; a consumer that has transient memory
 * may go past, since it may need more before it can release what it has; and so may everybody unless a release is on its way
 * ({@link Reservation#announceRelease}) and work is under way that ends by itself ({@link PoolSetBuilder#busy}). So while one request
 * fits, something progresses.
 *
 * <p><b>Knots.</b> Memory is waited for while something that holds it can run without waiting for memory itself: a call that is not
 * suspended, or has nothing in line ({@link MemoryHolder}). When all that hold it wait, the youngest of those requests fails, and its call
 * with it. What the host keeps does not come back by itself, so it is waited for only for a while
 * ({@link PoolSetBuilder#hostPatience}); and nothing is waited for for longer than {@link PoolSetBuilder#patience}.
 *
 * <p>Safe from any thread.
 */
public final class PoolSet implements AutoCloseable {
    /*
     * Everything is guarded by `lock`, an innermost lock but for those of timepoints and of the tracker. Callbacks, the tracker's
     * included, are held back while something is done under it that may make some due. The provider is slow and called without it.
     *
     *   Allotment  who gets memory, and the line      under the lock
     *   Retention  what is kept of what nobody uses   under the lock
     *   Slabs      what all that takes of the budget  under the lock; decides what to get and to give back
     *   Supply     gets it and gives it back          without the lock
     *
     * POOL-1: bytes are given out to one at a time, and only once what used them is over or is waited for.
     * POOL-2: a request that stands in line is granted, fails or is taken back, exactly once (see WaitingLine).
     * POOL-3: no release is lost: a request joins the line under the lock that it looked under, and each release looks at the line.
     * POOL-4: the line is in the order of ages, and who gives unusable memory back joins it under the lock that it gives back under.
     */

    private final Object lock = new Object();
    private final List<Pool> pools;
    private final Slabs slabs;
    private final Allotment allotment;
    private final Retention retention;
    private final Supply supply;
    private final Executor growth; // maps and clears memory, which takes long
    private final AtomicLong ages = new AtomicLong();
    private boolean closed;

    PoolSet(PoolSetBuilder builder) {
        DeathFrontiers deaths = new DeathFrontiers(builder.tracker, builder.frontierCapacity);
        DeathWatch deathWatch = new DeathWatch(builder.tracker, deaths, this::completed);
        SlabProvider provider = builder.provider;
        this.growth = builder.growth;
        this.slabs = new Slabs(builder.budget, deaths);
        this.pools = builder.pools.stream()
                .map(options -> new Pool(this, options, deaths, provider.alignment()))
                .toList();
        this.allotment = new Allotment(this, builder, pools, slabs, deaths, deathWatch);
        this.retention = new Retention(this, builder, pools, slabs, deathWatch);
        this.supply = new Supply(lock, provider, slabs, pools, allotment, retention);
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
     * Reserves memory if there is some, without asking the provider for more, which takes long: for those who hold a lock.
     *
     * @param request who asks for how much
     * @return the reservation, the caller's; null when a pool would have to grow, or the request to wait
     * @throws IreeException as {@link #tryReserve}
     */
    public @Nullable Reservation tryReservePresent(ReservationRequest request) {
        return present(route(request), request);
    }

    /**
     * Reserves memory as soon as that is possible. Requests wait in line.
     *
     * <p>A request that fits the limits may still wait for long: for what the host keeps, which it may free at any time. That is logged,
     * and counted ({@link PoolStatistics#waitingForHost}).
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
        Reservation present = present(pool, request);
        return present != null ? present : supply.seek(pool, request, null).reservation();
    }

    /** The rule is that there is memory: nobody need be asked for more then, and no callback becomes due. */
    private @Nullable Reservation present(Pool pool, ReservationRequest request) {
        synchronized (lock) {
            slabs.begin(false, false);
            Reservation reservation = allotment.admit(pool, request, false);
            if (reservation != null) {
                allotment.countRefusals(pool);
            }
            return reservation;
        }
    }

    Cancellation reserve(Pool pool, ReservationRequest request, ReservationListener listener) {
        Supply.Found found = supply.seek(pool, request, Objects.requireNonNull(listener, "listener"));
        Waiter waiter = found.waiter();
        return waiter == null ? Cancellation.OVER : waiter;
    }

    /**
     * Gives memory back that turned out not to be usable, and reserves other as soon as that is possible. Nobody younger gets anything
     * in between: the request is in its place in line, see {@link ReservationRequest#withAge}, when others learn of what came back.
     *
     * @param unusable what the requester has not used; given back whatever happens
     * @param request who asks for how much
     * @param listener told how it ended
     * @return takes the request back
     * @throws IreeException as {@link #tryReserve}; the listener is not told then
     */
    public Cancellation reserveInstead(Reservation unusable, ReservationRequest request, ReservationListener listener) {
        Waiter[] joined = new Waiter[1];
        IreeException[] never = new IreeException[1];
        locked(() -> {
            Home home = unusable.released ? null : takeBack(unusable, null, false);
            try {
                Pool pool = route(request);
                allotment.check(pool, request);
                joined[0] = allotment.join(pool, request, listener);
            } catch (IreeException e) {
                never[0] = e;
            }
            if (home != null && home.reserved == 0) {
                retention.cameBack(unusable.pool, home);
            }
            allotment.serve();
        });
        if (never[0] != null) {
            throw never[0];
        }
        return joined[0];
    }

    /**
     * Returns the age of a request that is made now: more than that of all before.
     *
     * @return for {@link ReservationRequest#withAge}
     */
    public long nextAge() {
        return ages.incrementAndGet();
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
            return allotment.doesNotFitNow(pool, request);
        }
    }

    /** What a requester must wait for to use what it has reserved; null when it may not use it. */
    @Nullable
    List<NativeTimepoint> revalidate(Reservation reservation, Frontier after, NativeTimepoints timepoints) {
        synchronized (lock) {
            return allotment.revalidate(reservation, after, timepoints);
        }
    }

    /**
     * Returns where calls of a consumer are let in that may block.
     *
     * @param consumer whom their memory is accounted to
     * @return the gate of its quota, if there is one, then that of the set: to be passed in this order
     */
    public List<AdmissionGate> gates(String consumer) {
        AdmissionGate own = allotment.gate(consumer);
        return own == null ? List.of(allotment.gate()) : List.of(own, allotment.gate());
    }

    // ---- Giving back.

    void announceRelease(Reservation reservation) {
        synchronized (lock) {
            allotment.announceRelease(reservation);
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
        Pool pool = reservation.pool;
        Home home;
        synchronized (lock) {
            if (reservation.released) {
                return false;
            }
            home = takeBack(reservation, death, accessed);
            if (!allotment.isAnybodyWaiting() && (home.reserved > 0 || retention.note(pool, home))) {
                return true; // the rule: nobody has anything to do
            }
        }
        cameBack(pool, home);
        return true;
    }

    /** Under the lock: bytes are reserved no more. Null for the death frontier that they were reserved with. */
    private Home takeBack(Reservation reservation, @Nullable Frontier death, boolean accessed) {
        reservation.released = true;
        Block block = reservation.block;
        Home home = block.home;
        allotment.released(reservation);
        if (accessed) {
            reservation.accessed = home;
            home.accessed++;
        }
        reservation.pool.store.give(block, death == null ? block.death : death);
        return home;
    }

    void accessEnded(Reservation reservation) {
        Home home;
        synchronized (lock) {
            home = reservation.accessed;
            if (home == null) {
                return;
            }
            reservation.accessed = null;
            if (--home.accessed > 0 || home.reserved > 0) {
                return;
            }
        }
        cameBack(reservation.pool, home);
    }

    /** Something came back just now: of a slab that nobody may use any more, or that somebody in line waits for. */
    private void cameBack(Pool pool, Home home) {
        locked(() -> {
            if (home.reserved == 0) {
                retention.cameBack(pool, home);
            }
            allotment.serve();
        });
    }

    /**
     * Does something under the lock that may make callbacks due, and then what was decided about slabs: with the callbacks, so that whoever
     * releases with a lock of its own, as a stream does, has given that up before.
     */
    private void locked(Runnable action) {
        boolean held = HeldCallbacks.begin();
        try {
            Errand errand;
            synchronized (lock) {
                slabs.begin(true, false);
                action.run();
                errand = slabs.takeErrand();
            }
            if (errand != Errand.NONE) {
                Runnable run = () -> supply.run(errand);
                HeldCallbacks.run(errand.growth == null ? run : () -> growth.execute(run));
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }

    boolean takeBack(Waiter waiter) {
        boolean[] left = new boolean[1];
        locked(() -> left[0] = allotment.leave(waiter));
        return left[0];
    }

    /** The last user of some free block is over. */
    private void completed() {
        locked(() -> {
            retention.completed();
            allotment.serve();
        });
    }

    /** Work that was under way has ended: whoever waited for what it frees waits for nothing now, so whoever fits may go. */
    public void idle() {
        locked(allotment::serve);
    }

    /** A holder is over, or a program that is loaded from now on: what it has is the host's. Returns the most that it had. */
    long reviewed(MemoryHolder.Stake stake) {
        synchronized (lock) {
            allotment.reviewed(stake);
            return stake.peak;
        }
    }

    /** It is time to look whether somebody in line waits in vain. */
    void lookAtLine() {
        locked(allotment::reviewLine);
    }

    // ---- Housekeeping.

    /** Slabs may have been idle for long enough. */
    void woken() {
        locked(retention::woken);
    }

    /**
     * Gives all slabs that nobody uses back to the provider.
     *
     * @return how many bytes
     */
    public long trim() {
        return pools.stream().mapToLong(this::trim).sum();
    }

    long trim(Pool pool) {
        return measured(() -> retention.giveBackAll(pool));
    }

    /**
     * Gives slabs back that nobody has used for a while. Happens by itself, see {@link PoolSetBuilder#delayed}.
     *
     * @return how many bytes
     */
    public long trimIdle() {
        return measured(retention::sweep);
    }

    /** Does something under the lock that gives slabs back; returns how many bytes. */
    private long measured(Runnable action) {
        long[] bytes = new long[1];
        locked(() -> {
            bytes[0] = slabs.bytes();
            action.run();
            bytes[0] -= slabs.bytes();
        });
        return bytes[0];
    }

    /**
     * Returns what the pools have done, and what they have.
     *
     * @return a snapshot
     */
    public PoolSetStatistics statistics() {
        synchronized (lock) {
            return allotment.statistics();
        }
    }

    PoolStatistics statistics(Pool pool) {
        synchronized (lock) {
            return allotment.statistics(pool);
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
            if (!closed) {
                closed = true;
                allotment.close();
                retention.close();
            }
        });
    }
}
