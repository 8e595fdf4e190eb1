package io.github.iree4j.hal.pool;

import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.hal.pool.Slabs.Errand;
import io.github.iree4j.hal.pool.Slabs.Growth;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Acquires slabs from the provider and returns them. The provider is slow, so what was decided under the lock of the set is done without it
 * and then re-examined under it.
 */
final class Supply {
    /** How many slabs one call acquires before it gives up growing, since other requests keep taking them. */
    private static final int GROWTHS_AT_ONCE = 16;

    private static final Logger LOG = LoggerFactory.getLogger(Supply.class);

    private final Object lock;
    private final SlabProvider provider;
    private final Slabs slabs;
    private final List<Pool> pools;
    private final Allotment allotment;
    private final Retention retention;
    private final Executor growthExecutor;

    Supply(
            Object lock,
            SlabProvider provider,
            Slabs slabs,
            List<Pool> pools,
            Allotment allotment,
            Retention retention,
            Executor growthExecutor) {
        this.lock = lock;
        this.provider = provider;
        this.slabs = slabs;
        this.pools = pools;
        this.allotment = allotment;
        this.retention = retention;
        this.growthExecutor = growthExecutor;
    }

    /**
     * The outcome of a request: memory, a place in line, or neither; what the provider said last, if it had no memory; and how many slabs
     * had arrived by then.
     */
    record Found(
            @Nullable Reservation reservation,
            @Nullable Waiter waiter,
            @Nullable IreeException refusal,
            long arrivals) {}

    /** What came of a growth: a slab, or why there is none; and how many slabs were back at the provider before it was asked. */
    private record Arrival(
            Growth growth, @Nullable Slab slab, @Nullable IreeException failure, long returns) {}

    /** Finds memory for a request that does not wait for releases. */
    Reservation reserveNow(Pool pool, ReservationRequest request) {
        for (int i = 0; ; i++) {
            Found found = seek(pool, request, null);
            if (found.reservation() != null) {
                return found.reservation();
            }
            if (i == GROWTHS_AT_ONCE || !awaitArrival(found.arrivals())) {
                IreeException refusal = found.refusal();
                synchronized (lock) {
                    pool.failed();
                    throw refusal != null ? refusal : allotment.doesNotFitNow(pool, request);
                }
            }
        }
    }

    /** Waits for memory that others acquire; returns false when nothing has come and nothing will. POOL-5. */
    private boolean awaitArrival(long before) {
        boolean interrupted = false;
        synchronized (lock) {
            while (slabs.arrivals() == before && slabs.isGrowing()) {
                try {
                    lock.wait();
                } catch (InterruptedException e) {
                    interrupted = true; // a call of the provider ends
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            return slabs.arrivals() != before;
        }
    }

    /** Finds memory for a request or, with a listener, a place in line; the pool grows for it if it may and can. */
    Found seek(Pool pool, ReservationRequest request, @Nullable ReservationListener listener) {
        boolean held = HeldCallbacks.begin();
        try {
            Arrival arrival = null;
            Errand before = Errand.NONE;
            for (int growths = 0; ; growths++) {
                Reservation reservation = null;
                Waiter waiter = null;
                IreeException refusal = null;
                Errand errand;
                Errand others = Errand.NONE;
                Growth growth;
                IreeException failure = arrival == null ? null : arrival.failure();
                long arrivals;
                synchronized (lock) {
                    boolean mayGrow = arrival == null || arrived(arrival);
                    slabs.begin(mayGrow && growths < GROWTHS_AT_ONCE, growths > 0);
                    try {
                        reservation = allotment.admit(pool, request, true);
                    } catch (IreeException e) {
                        refusal = e; // thrown once the earlier decisions have been carried out
                    }
                    errand = slabs.takeErrand();
                    growth = errand.growth;
                    if (growth == null && refusal == null) {
                        allotment.countRefusals(pool);
                    }
                    if (reservation == null && growth == null && refusal == null) {
                        if (failure != null && isFinal(failure)) {
                            pool.failed();
                            refusal = failure;
                        } else {
                            waiter = listener == null ? null : allotment.join(pool, request, listener);
                        }
                    }
                    if (growth == null && growths > 0) { // requests have joined meanwhile, and more may fit
                        slabs.begin(true, true);
                        allotment.serve();
                        others = slabs.takeErrand();
                    }
                    arrivals = slabs.arrivals();
                }
                carriedOut(before);
                before = errand;
                if (growth == null) {
                    run(errand);
                    run(others);
                    if (refusal != null) {
                        throw refusal;
                    }
                    Reservation granted = reservation;
                    if (granted != null && listener != null) {
                        HeldCallbacks.run(() -> listener.ended(granted, null));
                    }
                    return new Found(reservation, waiter, failure, arrivals);
                }
                giveBack(errand);
                arrival = acquire(growth);
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /** Carries out what was decided under the lock, on behalf of a releaser and of the line. */
    void run(Errand decided) {
        int growths = 0;
        for (Errand errand = decided; errand != Errand.NONE; growths++) {
            giveBack(errand);
            Arrival arrival = errand.growth == null ? null : acquire(errand.growth);
            Errand next = arrival == null && errand.back.isEmpty() ? Errand.NONE : serve(arrival, growths);
            carriedOut(errand);
            errand = next;
            if (arrival == null && next.growth != null) { // this thread only returns slabs
                growthExecutor.execute(() -> run(next));
                return;
            }
        }
    }

    private void carriedOut(Errand errand) {
        if (errand != Errand.NONE) {
            carriedOut();
        }
    }

    /** Ends what counts as an errand; the last of a closed set tells so. */
    void carriedOut() {
        Runnable told;
        synchronized (lock) {
            told = slabs.carriedOut();
        }
        if (told != null) {
            told.run();
        }
    }

    /**
     * Serves the line after an errand, whose slab has arrived, or not, or which has only returned some; returns what to do next. Waiters are
     * notified after the unlock.
     */
    private Errand serve(@Nullable Arrival arrival, int growths) {
        boolean held = HeldCallbacks.begin();
        try {
            synchronized (lock) {
                IreeException failure = arrival == null ? null : arrival.failure();
                if (arrival == null || arrived(arrival) || failure == null) {
                    slabs.begin(growths < GROWTHS_AT_ONCE, arrival != null);
                    allotment.serve(); // POOL-6
                } else if (isFinal(failure)) {
                    slabs.begin(true, true); // for the requests behind it
                    allotment.failFirst(arrival.growth().pool(), failure);
                    allotment.serve(); // POOL-6: others too, where nobody waits for that pool any more
                }
                return slabs.takeErrand();
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /**
     * Under the lock: whether a slab that could not be acquired is not worth a wait. Only a shortage may end: while memory is in use, or was
     * released and still is in use; or while slabs are on their way to or from the provider, after which the line is served. POOL-6.
     */
    private boolean isFinal(IreeException failure) {
        return failure.code() != StatusCode.RESOURCE_EXHAUSTED
                || allotment.isNothingLive() && !slabs.isAnyDying(pools) && !slabs.isAnyMoving();
    }

    /** Calls the provider. Converts what it throws, so that the caller can uncharge the bytes. */
    private Arrival acquire(Growth growth) {
        long returns;
        synchronized (lock) {
            returns = slabs.returns();
        }
        try {
            Slab slab = provider.acquire(growth.pool().options(), growth.size(), growth.alignment());
            return new Arrival(growth, slab, null, returns);
        } catch (IreeException e) {
            return new Arrival(growth, null, e, returns);
        } catch (RuntimeException | OutOfMemoryError e) {
            IreeException shortage = new IreeException(
                    StatusCode.RESOURCE_EXHAUSTED, "no slab of %d bytes: %s".formatted(growth.size(), e), e);
            return new Arrival(growth, null, shortage, returns);
        }
    }

    /** Returns slabs to the provider. A failure for one slab does not affect the others. */
    private void giveBack(Errand errand) {
        for (Slab slab : errand.back) {
            try {
                provider.release(slab);
            } catch (RuntimeException e) {
                LOG.warn("slab of {} bytes could not be returned; its memory is leaked", slab.size(), e);
            }
        }
        if (!errand.back.isEmpty()) {
            synchronized (lock) {
                slabs.returned(errand);
            }
        }
    }

    /** Under the lock: records a slab that was acquired, or not; returns whether another attempt makes sense. */
    private boolean arrived(Arrival arrival) {
        slabs.got(arrival.growth(), arrival.slab());
        lock.notifyAll(); // POOL-5
        if (arrival.slab() != null) {
            return true;
        }
        long before = slabs.bytes();
        pools.forEach(retention::giveBackAll); // the unused slabs may be what the system lacks
        return slabs.bytes() < before || slabs.returns() != arrival.returns(); // POOL-6
    }
}
