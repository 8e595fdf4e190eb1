package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.Cancellation;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.Block.Home;
import io.github.iree4j.hal.pool.Slabs.SlabExchange;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one device: the pools, a common budget, and the line of requests waiting for memory.
 *
 * <p><b>Order.</b> A request tries the fitting free blocks, smallest first. A block is taken at once if its last user
 * is known to have finished or is included in the requester's frontier. If the last user has left marks for the
 * requester's hardware to wait for, the block is taken with the fewest sufficient waits. Otherwise the pool grows by a
 * slab, taking unused slabs from the other pools if the budget requires. If growth is impossible too, the request
 * stands in line until memory is released or work completes.
 *
 * <p><b>Line.</b> Requests are served in the order of the first attempts, even if a requester has returned memory
 * unused in between ({@link #reserveInstead}). A request that does not fit yet is not overtaken, so large requests get
 * their turn. Requests overtake only where waiting would be pointless: any request overtakes a request waiting for its
 * own quota; a consumer holding transient memory may overtake, since the consumer may need more memory before releasing
 * any; and any consumer may overtake unless a release has been announced ({@link Reservation#announceRelease}) and work
 * is under way that ends by itself ({@link PoolSetBuilder#busy}). So something progresses while any request fits. After
 * many overtakings the first request in line has a claim, and other requests leave room for the claim ({@link Turns}).
 *
 * <p><b>Deadlocks.</b> Requests wait for memory while a holder of the memory can run without waiting for memory: a call
 * that is not suspended, or has no request in line ({@link MemoryHolder}). When all holders wait, the holders form a
 * deadlock: the youngest of their requests fails together with its call. Memory kept by the host is not released
 * automatically, so requests wait for such memory only for {@link PoolSetBuilder#hostPatience}. No request waits longer
 * than {@link PoolSetBuilder#patience}.
 *
 * <p>Safe from any thread.
 */
@NotForApplications
public final class PoolSet implements AutoCloseable {
    /*
     * All state is guarded by `lock`. Under `lock` only innermost locks are acquired: of timepoints, of the tracker and
     * of the gate. Callbacks, the tracker's included, are deferred while code under the lock may make callbacks due.
     * The provider is slow and is called without the lock.
     *
     *   Arbiter    grants memory, keeps the line       under the lock
     *   Retention  decides which unused slabs to keep  under the lock
     *   Slabs      charges slabs to the budget         under the lock; decides on slabs to acquire and to return
     *   Supply     acquires and returns slabs          without the lock
     *
     * POOL-1: bytes belong to at most one reservation, and only once the last user has finished or is waited for.
     * POOL-2: a request in line is granted, failed or withdrawn, exactly once (see WaitingLine).
     * POOL-3: no release is lost: a request joins the line under the same lock acquisition as its search, and each
     * release serves the line.
     * POOL-4: the line is ordered by age, and a requester returning unusable memory joins the line under the same lock
     * acquisition.
     */

    private static final AtomicInteger NUMBERS = new AtomicInteger();

    final int number = NUMBERS.incrementAndGet(); // assigned before the pools are created
    private final Object lock = new Object();
    private final List<Pool> pools;
    private final DeathFrontiers deaths;
    private final Slabs slabs;
    private final AdmissionGate gate;
    private final Arbiter arbiter;
    private final Retention retention;
    private final Supply supply;
    private final PoolObservation observation;
    private final AtomicLong ages = new AtomicLong();
    private boolean closed;

    PoolSet(PoolSetBuilder builder) {
        this.deaths = new DeathFrontiers(builder.tracker, builder.frontierCapacity);
        DeathWatch deathWatch = new DeathWatch(builder.tracker, deaths, this::completed);
        SlabProvider provider = builder.provider;
        this.slabs = new Slabs(builder.budget, deaths);
        Waste waste = new Waste(builder.waste);
        this.pools = builder.pools.stream()
                .map(options -> new Pool(this, options, deaths, provider.alignment(), waste))
                .toList();
        this.observation = builder.observation;
        this.gate = new AdmissionGate(builder, number);
        this.arbiter = new Arbiter(this, builder, pools, slabs, deaths, deathWatch, gate);
        this.retention = new Retention(this, builder, pools, slabs, deathWatch);
        this.supply = new Supply(lock, provider, slabs, pools, arbiter, retention, builder.growth);
    }

    /**
     * Returns a builder of a set.
     *
     * @param provider the source of the set's memory
     * @param tracker reports completed work; borrowed, must stay open while the set is used
     * @return a builder
     */
    public static PoolSetBuilder builder(SlabProvider provider, FrontierTracker tracker) {
        return new PoolSetBuilder(provider, tracker);
    }

    /**
     * Returns a number that identifies the set in this process.
     *
     * @return the number, from 1, never reused
     */
    public int number() {
        return number;
    }

    /**
     * Returns the pools.
     *
     * @return the pools, in the order tried by {@link #route}
     */
    public List<Pool> pools() {
        return pools;
    }

    /**
     * Returns the pool that serves a request.
     *
     * @param request the request
     * @return the first pool accepting the request's memory type, usage, lifetime and size
     * @throws IreeException INVALID_ARGUMENT when no pool accepts the request
     */
    public Pool route(ReservationRequest request) {
        for (Pool pool : pools) {
            if (pool.takes(request)) {
                return pool;
            }
        }
        throw IreeException.of(
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
     * Reserves memory if possible now.
     *
     * @param request the request
     * @return the reservation, the caller's; null when the request would have to wait
     * @throws IreeException RESOURCE_EXHAUSTED when the request can never fit, naming the bytes held by each consumer;
     *     INVALID_ARGUMENT when no pool accepts the request; FAILED_PRECONDITION when the set is closed
     */
    public @Nullable Reservation tryReserve(ReservationRequest request) {
        return tryReserve(route(request), request);
    }

    /**
     * Reserves memory if a pool has enough, without the slow acquisition of more from the provider: for callers holding
     * a lock.
     *
     * @param request the request
     * @return the reservation, the caller's; null when a pool would have to grow, or the request to wait
     * @throws IreeException as {@link #tryReserve}
     */
    public @Nullable Reservation tryReservePresent(ReservationRequest request) {
        return present(route(request), request);
    }

    /**
     * Reserves memory as soon as possible. Requests wait in line.
     *
     * <p>A request within the limits may still wait long for memory that the host keeps and may free at any time. Such
     * a wait is logged and counted ({@link PoolStatistics#waitingForHost}).
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

    /** Tries the fast path: a pool has memory, so no slab is needed and no callback becomes due. */
    private @Nullable Reservation present(Pool pool, ReservationRequest request) {
        synchronized (lock) {
            slabs.begin(false, null);
            Reservation reservation = arbiter.admit(pool, request, false);
            if (reservation != null) {
                arbiter.countRefusals(pool);
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
     * Returns memory found to be unusable and reserves other memory as soon as possible. No younger request is served
     * in between: this request takes its place in line, see {@link ReservationRequest#withAge}, before the returned
     * memory is offered to others.
     *
     * @param unusable memory that the requester has not used; released in any case
     * @param request the request
     * @param listener called with the outcome
     * @return withdraws the request
     * @throws IreeException as {@link #tryReserve}; the listener is not called then
     */
    public Cancellation reserveInstead(Reservation unusable, ReservationRequest request, ReservationListener listener) {
        Joining joining = underLock(() -> {
            slabs.changed();
            Home home = unusable.released ? null : takeBack(unusable, null, false);
            Joining outcome = join(request, listener);
            arbiter.serve();
            if (home != null) {
                retention.cameBack(unusable.pool, home);
            }
            return outcome;
        });
        if (joining.never != null) {
            throw joining.never;
        }
        return Objects.requireNonNull(joining.waiter);
    }

    /** The outcome of joining the line: a waiter, or the reason why the request can never be granted. */
    private record Joining(
            @Nullable Waiter waiter, @Nullable IreeException never) {}

    private Joining join(ReservationRequest request, ReservationListener listener) {
        try {
            Pool pool = route(request);
            arbiter.check(pool, request);
            return new Joining(arbiter.join(pool, request, listener), null);
        } catch (IreeException e) {
            return new Joining(null, e);
        }
    }

    /**
     * Returns the age of a request made now: higher than all earlier ages.
     *
     * @return the age, for {@link ReservationRequest#withAge}
     */
    public long nextAge() {
        return ages.incrementAndGet();
    }

    /**
     * Reserves memory for a caller that does not wait for others to release memory, except for {@linkplain
     * MemoryHolder#request inputs of a call}. Waits while memory is being acquired for others, since the acquired memory
     * may suffice for this request too; and while memory is being returned to the system, since the system may then have
     * enough.
     *
     * @param request the request
     * @return the reservation, the caller's
     * @throws IreeException RESOURCE_EXHAUSTED when there is not enough memory now, with the reason or the system's
     *     failure; DEFERRED or CANCELLED for inputs of a call; otherwise as {@link #tryReserve}
     */
    public Reservation reserveNow(ReservationRequest request) {
        Pool pool = route(request);
        Reservation present = present(pool, request);
        if (present != null) {
            return present;
        }
        MemoryHolder call = request.holder();
        return call != null && call.whereShort() == WhereShort.WAIT
                ? AwaitedRequest.await(call, this, pool, request)
                : supply.reserveNow(pool, request);
    }

    /** Returns the waits required before the requester uses its reservation; null when the requester must not use the reservation. */
    @Nullable
    List<NativeTimepoint> revalidate(Reservation reservation, Frontier after, NativeTimepoints timepoints) {
        synchronized (lock) {
            return arbiter.revalidate(reservation, after, timepoints);
        }
    }

    /**
     * Returns the line in which calls wait before holding memory of the set.
     *
     * @return the gate, always the same
     */
    public AdmissionGate gate() {
        return gate;
    }

    // ---- Releasing.

    void announceRelease(Reservation reservation) {
        synchronized (lock) {
            arbiter.announceRelease(reservation);
        }
    }

    boolean release(Reservation reservation, Frontier death, boolean accessed) {
        if (death.isTainted() && !death.hasProducer()) {
            throw IreeException.of(
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
            if (!arbiter.isAnybodyWaiting() && (home.reserved > 0 || retention.note(pool, home))) {
                return true; // the fast path: no other work to do
            }
        }
        cameBack(pool, home);
        return true;
    }

    /** Returns a reservation's bytes to the store; under the lock. A null {@code death} keeps the death frontier of the reserved block. */
    private Home takeBack(Reservation reservation, @Nullable Frontier death, boolean accessed) {
        reservation.released = true;
        Block block = reservation.block;
        Home home = block.home;
        arbiter.released(reservation, death);
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

    /** Handles a release. Afterwards the slab may be unused, or a waiter may be served. */
    private void cameBack(Pool pool, Home home) {
        locked(() -> {
            slabs.changed();
            arbiter.serve(); // first: a slab needed by a waiting request does not go back
            retention.cameBack(pool, home);
        });
    }

    /**
     * Runs an action that may make callbacks due under the lock, then runs the resulting exchange. The exchange runs with
     * the callbacks, after a releaser with another lock, such as a stream, has unlocked.
     */
    private <T> T underLock(Supplier<T> action) {
        boolean held = HeldCallbacks.begin();
        try {
            T answer;
            SlabExchange exchange;
            synchronized (lock) {
                slabs.begin(true, null);
                answer = action.get();
                exchange = slabs.takeExchange();
            }
            if (exchange != SlabExchange.NONE) {
                HeldCallbacks.run(() -> supply.carryOut(exchange));
            }
            return answer;
        } finally {
            HeldCallbacks.end(held);
        }
    }

    private void locked(Runnable action) {
        underLock(() -> {
            action.run();
            return true;
        });
    }

    boolean takeBack(Waiter waiter) {
        return underLock(() -> arbiter.leave(waiter));
    }

    /** Handles the end of the last user of a free block. */
    private void completed() {
        locked(() -> {
            slabs.changed();
            arbiter.serve();
            retention.completed();
        });
    }

    /** Re-scans the waiters because work under way has ended: waiters no longer wait for memory freed by the work, so any fitting waiter may go. */
    public void idle() {
        locked(arbiter::workEnded);
    }

    /** Records the end of a call or the loading of a program: the holder's memory now counts as kept by the host. */
    void reviewed(Holding holding) {
        synchronized (lock) {
            arbiter.reviewed(holding);
        }
    }

    /** Looks for waiters without a prospect of memory. */
    void lookAtLine() {
        locked(arbiter::reviewLine);
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
        return underLock(() -> {
            long before = slabs.bytes();
            retention.giveBackAll(pool);
            return before - slabs.bytes();
        });
    }

    /**
     * Returns statistics of the pools.
     *
     * @return a snapshot
     */
    public PoolSetStatistics statistics() {
        synchronized (lock) {
            return arbiter.statistics();
        }
    }

    /** Shows the statistics under the lock: no memory is reserved or released meanwhile. */
    void visit(BiConsumer<PoolSet, PoolSetStatistics> visitor) {
        synchronized (lock) {
            visitor.accept(this, arbiter.statistics());
        }
    }

    /**
     * Returns the most bytes reserved at once since the last call of this method.
     *
     * @return at least the bytes reserved now
     */
    public long takeMostLive() {
        synchronized (lock) {
            return arbiter.takeMostLive();
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
            return arbiter.statistics(pool);
        }
    }

    void verify(Pool pool) {
        synchronized (lock) {
            pool.store.verify();
        }
    }

    /**
     * Closes the set: requests in line fail, and memory returns to the provider as soon as it is released, whatever its
     * death frontier. So the caller must have stopped the hardware before. Idempotent.
     */
    @Override
    public void close() {
        close(() -> {});
    }

    /**
     * Closes the set, and notifies the caller when no slab is on its way: all slabs given up by the pools are back at
     * the provider, and no slab is being acquired. Slabs of memory released later return later.
     *
     * @param whenReturned run once, by the thread returning the last slab, possibly the calling thread; ignored if the
     *     set is closed already
     */
    public void close(Runnable whenReturned) {
        boolean first = underLock(() -> {
            if (closed) {
                return false;
            }
            closed = true;
            arbiter.close();
            retention.close(whenReturned);
            return true;
        });
        if (first) {
            observation.remove(this);
            supply.carriedOut();
        }
    }
}
