package io.github.iree4j.hal.pool;

import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.hal.pool.Slabs.Errand;
import io.github.iree4j.hal.pool.Slabs.Growth;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
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

    Supply(
            Object lock,
            SlabProvider provider,
            Slabs slabs,
            List<Pool> pools,
            Allotment allotment,
            Retention retention) {
        this.lock = lock;
        this.provider = provider;
        this.slabs = slabs;
        this.pools = pools;
        this.allotment = allotment;
        this.retention = retention;
    }

    /** The outcome of a request: memory, a place in line, or neither; and what the provider said last, if it had no memory. */
    record Found(
            @Nullable Reservation reservation,
            @Nullable Waiter waiter,
            @Nullable IreeException refusal) {}

    /** Finds memory for a request that does not wait for releases. */
    Reservation reserveNow(Pool pool, ReservationRequest request) {
        for (int i = 0; ; i++) {
            long before;
            synchronized (lock) {
                before = slabs.arrivals();
            }
            Found found = seek(pool, request, null);
            if (found.reservation() != null) {
                return found.reservation();
            }
            IreeException refusal = found.refusal();
            if (refusal != null || i == GROWTHS_AT_ONCE || !awaitArrival(before)) {
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
            Growth growth = null;
            Slab slab = null;
            IreeException failure = null;
            Errand before = Errand.NONE;
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
                }
                carriedOut(before);
                before = errand;
                giveBack(errand);
                if (growth == null) {
                    carriedOut(errand);
                    run(others);
                    if (refusal != null) {
                        throw refusal;
                    }
                    Reservation granted = reservation;
                    if (granted != null && listener != null) {
                        HeldCallbacks.run(() -> listener.ended(granted, null));
                    }
                    return new Found(reservation, waiter, failure);
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

    /** Carries out what was decided under the lock, on behalf of a releaser and of the line. */
    void run(Errand decided) {
        int growths = 0;
        for (Errand errand = decided; errand != Errand.NONE; growths++) {
            giveBack(errand);
            Growth growth = errand.growth;
            Errand next = Errand.NONE;
            if (growth != null) {
                Slab slab = null;
                IreeException failure = null;
                try {
                    slab = acquire(growth);
                } catch (IreeException e) {
                    failure = e;
                }
                next = arrived(growth, slab, failure, growths);
            }
            carriedOut(errand);
            errand = next;
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

    /** Handles a slab that was acquired, or not, for the line; returns what to do next. Waiters are notified after the unlock. */
    private Errand arrived(Growth growth, @Nullable Slab slab, @Nullable IreeException failure, int growths) {
        boolean held = HeldCallbacks.begin();
        try {
            synchronized (lock) {
                if (arrived(growth, slab) || failure == null) {
                    slabs.begin(growths < GROWTHS_AT_ONCE, true);
                    allotment.serve();
                } else if (isFinal(failure)) {
                    slabs.begin(true, true); // for the requests behind it
                    allotment.failFirst(growth.pool(), failure);
                }
                return slabs.takeErrand();
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /**
     * Under the lock: whether a slab that could not be acquired is not worth a wait. Only a shortage may end, and only while memory is in use,
     * or was released and still is in use.
     */
    private boolean isFinal(IreeException failure) {
        return failure.code() != StatusCode.RESOURCE_EXHAUSTED || allotment.isNothingLive() && !slabs.isAnyDying(pools);
    }

    /** Calls the provider. Converts what it throws, so that the caller can uncharge the bytes. */
    private Slab acquire(Growth growth) {
        try {
            return provider.acquire(growth.pool().options(), growth.size(), growth.alignment());
        } catch (IreeException e) {
            throw e;
        } catch (RuntimeException | OutOfMemoryError e) {
            throw new IreeException(
                    StatusCode.RESOURCE_EXHAUSTED, "no slab of %d bytes: %s".formatted(growth.size(), e), e);
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
    }

    /** Under the lock: records a slab that was acquired, or not; returns whether another attempt makes sense. */
    private boolean arrived(Growth growth, @Nullable Slab slab) {
        slabs.got(growth, slab);
        lock.notifyAll(); // POOL-5
        if (slab != null) {
            return true;
        }
        long before = slabs.bytes();
        pools.forEach(retention::giveBackAll); // the unused slabs may be what the system lacks
        return slabs.bytes() < before;
    }
}
