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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one device: its pools, their common budget, and the line of requests that wait for memory.
 *
 * <p><b>Order.</b> A request tries the free blocks that fit, smallest first. A block whose last user is known to have finished, or is among
 * what the requester runs after, is taken at once; a block whose last user has left marks that the requester's hardware can wait for is
 * taken with as few of those waits as suffice. Failing that, the pool grows by a slab, taking unused slabs from the other pools if the
 * budget requires it. Failing that too, the request stands in line until memory is released or work completes.
 *
 * <p><b>Line.</b> Requests are served in the order of their first attempt, also when the requester has returned memory unused in between
 * ({@link #reserveInstead}). A request that does not fit yet is not overtaken, so that large ones get their turn, except where the wait
 * would be pointless: any request overtakes one that waits for its own quota; a consumer that holds transient memory may overtake, since it
 * may need more before it can release what it holds; and any consumer may overtake unless a release has been announced ({@link
 * Reservation#announceRelease}) and work is under way that ends by itself ({@link PoolSetBuilder#busy}). So while one request fits,
 * something progresses. The first in line has a claim once it was overtaken often, which others leave room for ({@link Turns}).
 *
 * <p><b>Knots.</b> Requests wait for memory while a holder of it can run without waiting for memory itself: a call that is not suspended,
 * or has nothing in line ({@link MemoryHolder}). When all holders wait, they form a knot: the youngest of their requests fails, and its
 * call with it. What the host keeps is not released by itself, so requests wait for it only for {@link PoolSetBuilder#hostPatience}; no
 * request waits longer than {@link PoolSetBuilder#patience}.
 *
 * <p>Safe from any thread.
 */
public final class PoolSet implements AutoCloseable {
    /*
     * All state is guarded by `lock`, an innermost lock except for those of timepoints and of the tracker. Callbacks, the tracker's
     * included, are deferred while code under the lock may make some due. The provider is slow and is called without the lock.
     *
     *   Allotment  grants memory, keeps the line       under the lock
     *   Retention  decides which unused slabs to keep  under the lock
     *   Slabs      charges slabs to the budget         under the lock; decides what to acquire and to return
     *   Supply     acquires slabs and returns them     without the lock
     *
     * POOL-1: bytes belong to one reservation at a time, and only once their last user has finished or is waited for.
     * POOL-2: a request in line is granted, failed or withdrawn, exactly once (see WaitingLine).
     * POOL-3: no release is lost: a request joins the line under the same lock acquisition as its search, and each release serves the line.
     * POOL-4: the line is ordered by age, and a requester that returns unusable memory joins it under the same lock acquisition.
     */

    private static final AtomicInteger NUMBERS = new AtomicInteger();

    final int number = NUMBERS.incrementAndGet(); // before the pools
    private final Object lock = new Object();
    private final List<Pool> pools;
    private final DeathFrontiers deaths;
    private final Slabs slabs;
    private final AdmissionGate gate;
    private final Allotment allotment;
    private final Retention retention;
    private final Supply supply;
    private final Executor growth; // mapping and clearing memory takes long
    private final AtomicLong ages = new AtomicLong();
    private boolean closed;

    PoolSet(PoolSetBuilder builder) {
        this.deaths = new DeathFrontiers(builder.tracker, builder.frontierCapacity);
        DeathWatch deathWatch = new DeathWatch(builder.tracker, deaths, this::completed);
        SlabProvider provider = builder.provider;
        this.growth = builder.growth;
        this.slabs = new Slabs(builder.budget, deaths);
        Waste waste = new Waste(builder.waste);
        this.pools = builder.pools.stream()
                .map(options -> new Pool(this, options, deaths, provider.alignment(), waste))
                .toList();
        this.gate = new AdmissionGate(builder, number);
        this.allotment = new Allotment(this, builder, pools, slabs, deaths, deathWatch, gate);
        this.retention = new Retention(this, builder, pools, slabs, deathWatch);
        this.supply = new Supply(lock, provider, slabs, pools, allotment, retention, growth);
    }

    /**
     * Returns a builder of a set.
     *
     * @param provider the source of its memory
     * @param tracker tells what has completed; borrowed, it must stay open as long as the set is used
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
     * Returns the pool that serves a request.
     *
     * @param request the request
     * @return the first pool that takes its memory type, usage, lifetime and size
     * @throws IreeException INVALID_ARGUMENT when no pool does
     */
    public Pool route(ReservationRequest request) {
        for (Pool pool : pools) {
            if (pool.takes(request)) {
                return pool;
            }
        }
        throw new IreeException(
                StatusCode.INVALID_ARGUMENT,
                "no pool takes %s memory of %d bytes with type 0x%x and usage 0x%x; pools: %s"
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
     * @param request the request
     * @return the reservation, the caller's; null when the request would have to wait
     * @throws IreeException RESOURCE_EXHAUSTED when it can never fit, naming what each consumer holds; INVALID_ARGUMENT when no pool takes
     *     it; FAILED_PRECONDITION when the set is closed
     */
    public @Nullable Reservation tryReserve(ReservationRequest request) {
        return tryReserve(route(request), request);
    }

    /**
     * Reserves memory if a pool has it, without asking the provider for more, which takes long: for callers that hold a lock.
     *
     * @param request the request
     * @return the reservation, the caller's; null when a pool would have to grow, or the request to wait
     * @throws IreeException as {@link #tryReserve}
     */
    public @Nullable Reservation tryReservePresent(ReservationRequest request) {
        return present(route(request), request);
    }

    /**
     * Reserves memory as soon as that is possible. Requests wait in line.
     *
     * <p>A request within the limits may still wait long for memory that the host keeps and may free at any time. Such a wait is logged and
     * counted ({@link PoolStatistics#waitingForHost}).
     *
     * @param request the request
     * @param listener called with the outcome, at once if the request can be granted at once
     * @return withdraws the request
     * @throws IreeException as {@link #tryReserve}; the listener is not called then
     */
    public Cancellation reserve(ReservationRequest request, ReservationListener listener) {
        return reserve(route(request), request, listener);
    }

    @Nullable
    Reservation tryReserve(Pool pool, ReservationRequest request) {
        Reservation present = present(pool, request);
        return present != null ? present : supply.seek(pool, request, null).reservation();
    }

    /** The fast path: a pool has memory, so no slab is needed and no callback becomes due. */
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
     * Returns memory that turned out to be unusable and reserves other memory as soon as that is possible. No younger request is served in
     * between: this one is in its place in line, see {@link ReservationRequest#withAge}, before the returned memory is offered to others.
     *
     * @param unusable memory that the requester has not used; released in any case
     * @param request the request
     * @param listener called with the outcome
     * @return withdraws the request
     * @throws IreeException as {@link #tryReserve}; the listener is not called then
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
            allotment.serve();
            if (home != null) {
                retention.cameBack(unusable.pool, home);
            }
        });
        if (never[0] != null) {
            throw never[0];
        }
        return joined[0];
    }

    /**
     * Returns the age of a request made now: higher than all before.
     *
     * @return the age, for {@link ReservationRequest#withAge}
     */
    public long nextAge() {
        return ages.incrementAndGet();
    }

    /**
     * Reserves memory for a caller that does not wait for others to release it. Waits while memory is being acquired for others, since that
     * may be enough for this request too.
     *
     * @param request the request
     * @return the reservation, the caller's
     * @throws IreeException RESOURCE_EXHAUSTED when there is not enough memory now, saying why, or what the system said; otherwise as
     *     {@link #tryReserve}
     */
    public Reservation reserveNow(ReservationRequest request) {
        Pool pool = route(request);
        Reservation present = present(pool, request);
        return present != null ? present : supply.reserveNow(pool, request);
    }

    /** Returns what the requester must wait for before it uses its reservation; null when it must not use it. */
    @Nullable
    List<NativeTimepoint> revalidate(Reservation reservation, Frontier after, NativeTimepoints timepoints) {
        synchronized (lock) {
            return allotment.revalidate(reservation, after, timepoints);
        }
    }

    /**
     * Returns the line in which calls wait before they hold memory of the set.
     *
     * @return the gate, always the same
     */
    public AdmissionGate gate() {
        return gate;
    }

    // ---- Releasing.

    void announceRelease(Reservation reservation) {
        synchronized (lock) {
            allotment.announceRelease(reservation);
        }
    }

    boolean release(Reservation reservation, Frontier death, boolean accessed) {
        if (death.isTainted() && !death.hasProducer()) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "%s cannot be released with %s, whose completion cannot be observed; release it with the frontier of an operation"
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
                return true; // the fast path: no other work to do
            }
        }
        cameBack(pool, home);
        return true;
    }

    /**
     * Returns a reservation's bytes to the store; under the lock. A null {@code death} keeps the death frontier that they were reserved
     * with.
     */
    private Home takeBack(Reservation reservation, @Nullable Frontier death, boolean accessed) {
        reservation.released = true;
        Block block = reservation.block;
        Home home = block.home;
        allotment.released(reservation, death);
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

    /** Handles a release, after which the slab may be unused or a waiter may be served. */
    private void cameBack(Pool pool, Home home) {
        locked(() -> {
            allotment.serve(); // first: a slab that a request waits for does not go back
            retention.cameBack(pool, home);
        });
    }

    /**
     * Runs an action under the lock that may make callbacks due, then the errand that it decided on. The errand runs with the callbacks, so
     * that a releaser with a lock of its own, such as a stream, has unlocked before.
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

    /** Handles the end of the last user of a free block. */
    private void completed() {
        locked(() -> {
            allotment.serve();
            retention.completed();
        });
    }

    /** Re-scans the waiters because work under way has ended: they no longer wait for what it frees, so any that fits may go. */
    public void idle() {
        locked(allotment::workEnded);
    }

    /** Notes that a call has ended or a program has been loaded: the holder's memory now counts as kept by the host. */
    void reviewed(MemoryHolder.Stake stake) {
        synchronized (lock) {
            allotment.reviewed(stake);
        }
    }

    /** Looks for waiters that wait in vain. */
    void lookAtLine() {
        locked(allotment::reviewLine);
    }

    // ---- Housekeeping.

    /** Returns slabs that have been idle long enough. */
    void woken() {
        locked(retention::woken);
    }

    /**
     * Returns all unused slabs to the provider.
     *
     * @return bytes returned
     */
    public long trim() {
        return pools.stream().mapToLong(this::trim).sum();
    }

    long trim(Pool pool) {
        return measured(() -> retention.giveBackAll(pool));
    }

    /**
     * Returns slabs that have been unused for a while. Also happens by itself, see {@link PoolSetBuilder#delayed}.
     *
     * @return bytes returned
     */
    public long trimIdle() {
        return measured(retention::sweep);
    }

    /** Runs an action under the lock that returns slabs; returns how many bytes. */
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
     * Returns statistics of the pools.
     *
     * @return a snapshot
     */
    public PoolSetStatistics statistics() {
        synchronized (lock) {
            return allotment.statistics();
        }
    }

    /**
     * Returns the blocks of the pools.
     *
     * @param limit maximum number of blocks to list
     * @return a snapshot
     */
    public MemoryMap map(int limit) {
        MapMaker maker = new MapMaker(deaths, limit);
        synchronized (lock) {
            pools.forEach(maker::add);
        }
        return maker.map();
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
     * Closes the set: requests in line fail, and memory returns to the provider as soon as it is released, whatever its death frontier. So
     * the caller must have stopped the hardware before. Idempotent.
     */
    @Override
    public void close() {
        close(() -> {});
    }

    /**
     * Closes the set, and tells when no slab is on its way: those that the pools have given up are back at the provider, and none is being
     * acquired. Slabs of memory that is released later return later.
     *
     * @param whenReturned run once, by the thread that returns the last of them, which may be this one; ignored if the set is closed already
     */
    public void close(Runnable whenReturned) {
        boolean[] first = new boolean[1];
        locked(() -> {
            if (!closed) {
                closed = true;
                first[0] = true;
                allotment.close();
                retention.close(whenReturned);
            }
        });
        if (first[0]) {
            supply.carriedOut();
        }
    }
}
