package io.github.iree4j.hal.pool;

import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.hal.pool.Slabs.Growth;
import io.github.iree4j.hal.pool.Slabs.SlabExchange;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Acquires slabs from the provider and returns slabs to it. The provider is slow, so decisions made under the lock of
 * the set are carried out without the lock and then re-examined under the lock.
 */
final class Supply {
    /** The number of slabs acquired in a row without a grant before growing is given up, since other requests keep taking the slabs. */
    private static final int GROWTHS_AT_ONCE = 16;

    private static final Logger LOG = LoggerFactory.getLogger(Supply.class);

    private final Object lock;
    private final SlabProvider provider;
    private final Slabs slabs;
    private final List<Pool> pools;
    private final Arbiter arbiter;
    private final Retention retention;
    private final Executor growthExecutor; // mapping and clearing memory takes long

    Supply(
            Object lock,
            SlabProvider provider,
            Slabs slabs,
            List<Pool> pools,
            Arbiter arbiter,
            Retention retention,
            Executor growthExecutor) {
        this.lock = lock;
        this.provider = provider;
        this.slabs = slabs;
        this.pools = pools;
        this.arbiter = arbiter;
        this.retention = retention;
        this.growthExecutor = growthExecutor;
    }

    /**
     * The outcome of a request: memory, a place in line, or neither; the provider's last failure, if it had no memory;
     * and the number of moves by then, see {@link Slabs#moves}.
     */
    record Found(
            @Nullable Reservation reservation,
            @Nullable Waiter waiter,
            @Nullable IreeException refusal,
            long moves) {}

    /**
     * The outcome of a growth: a slab, or the cause of the failure; and, before the attempt, the number of slabs back at
     * the provider and of {@linkplain Slabs#changed changes}.
     */
    private record Arrival(
            Growth growth, @Nullable Slab slab, @Nullable IreeException failure, long returns, long changes) {}

    /** Finds memory for a request without waiting for releases. */
    Reservation reserveNow(Pool pool, ReservationRequest request) {
        for (int i = 0; ; i++) {
            Found found = seek(pool, request, null);
            if (found.reservation() != null) {
                return found.reservation();
            }
            MemoryHolder call = request.holder();
            boolean repeats = call != null && call.whereShort() == WhereShort.REPEAT;
            // Behind a callback this thread may be about to move the slabs itself.
            boolean mayWait = i < GROWTHS_AT_ONCE && !(repeats && HeldCallbacks.isInCallback());
            if (!mayWait || !awaitMove(found.moves())) {
                IreeException refusal = found.refusal();
                if (repeats) {
                    throw IreeException.of(
                            StatusCode.DEFERRED, "%d bytes are not free now".formatted(request.size()), refusal);
                }
                synchronized (lock) {
                    pool.fellShort(request);
                    throw refusal != null ? refusal : arbiter.doesNotFitNow(pool, request);
                }
            }
        }
    }

    /** Waits for slabs on their way from or to the provider; returns false when none has moved and none will. POOL-5. */
    private boolean awaitMove(long before) {
        HeldCallbacks.help(); // this thread may have to move the slabs
        boolean interrupted = false;
        synchronized (lock) {
            while (slabs.moves() == before && slabs.isAnyMoving()) {
                try {
                    lock.wait();
                } catch (InterruptedException e) {
                    interrupted = true; // the wait is bounded, since a call of the provider ends
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            return slabs.moves() != before;
        }
    }

    /** Finds memory for a request or, with a listener, a place in line; the pool grows for the request if permitted and possible. */
    Found seek(Pool pool, ReservationRequest request, @Nullable ReservationListener listener) {
        boolean held = HeldCallbacks.begin();
        try {
            Arrival arrival = null;
            SlabExchange before = SlabExchange.NONE;
            for (int growths = 0; ; growths++) {
                Reservation reservation = null;
                Waiter waiter = null;
                IreeException refusal = null;
                SlabExchange exchange;
                SlabExchange others = SlabExchange.NONE;
                Growth growth;
                IreeException failure = arrival == null ? null : arrival.failure();
                long moves;
                synchronized (lock) {
                    boolean mayGrow = arrival == null
                            || arrived(arrival)
                            || slabs.isRefused(pool, arrival.growth().size()); // less is asked for, if less will do
                    slabs.begin(mayGrow && growths < GROWTHS_AT_ONCE, arrival == null ? null : arrival.growth());
                    if (arrival == null) {
                        slabs.askAgain(Long.MAX_VALUE);
                    }
                    try {
                        reservation = arbiter.admit(pool, request, true);
                    } catch (IreeException e) {
                        refusal = e; // thrown once the earlier decisions have been carried out
                    }
                    exchange = slabs.takeExchange();
                    growth = exchange.growth;
                    boolean isOver = failure != null && isFinal(failure);
                    if (growth == null && refusal == null) {
                        arbiter.countRefusals(pool);
                    }
                    if (reservation == null && growth == null && refusal == null) {
                        if (isOver) {
                            pool.failed();
                            refusal = failure;
                        } else {
                            waiter = listener == null ? null : arbiter.join(pool, request, listener);
                        }
                    }
                    if (growth == null && arrival != null) { // requests have joined meanwhile, and more may fit
                        slabs.begin(true, arrival.growth());
                        if (isOver) {
                            slabs.askAgain(Long.MAX_VALUE); // for the requests that waited for this slab
                        }
                        arbiter.serve();
                        others = slabs.takeExchange();
                    }
                    moves = slabs.moves();
                }
                carriedOut(before);
                before = exchange;
                if (growth == null) {
                    carryOut(exchange);
                    carryOut(others);
                    if (refusal != null) {
                        throw refusal;
                    }
                    Reservation granted = reservation;
                    if (granted != null && listener != null) {
                        HeldCallbacks.run(() -> listener.ended(granted, null));
                    }
                    return new Found(reservation, waiter, failure, moves);
                }
                giveBack(exchange);
                arrival = acquire(growth);
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /** Carries out decisions made under the lock, on behalf of a releaser and of the line: on the growth thread if a slab is acquired. */
    void carryOut(SlabExchange decided) {
        if (decided.growth == null) {
            run(decided);
        } else {
            growthExecutor.execute(() -> run(decided));
        }
    }

    private void run(SlabExchange decided) {
        for (SlabExchange exchange = decided; exchange != SlabExchange.NONE; ) {
            giveBack(exchange);
            Arrival arrival = exchange.growth == null ? null : acquire(exchange.growth);
            SlabExchange next =
                    arrival == null && exchange.back.isEmpty() ? SlabExchange.NONE : serve(arrival, exchange.inVain);
            carriedOut(exchange);
            exchange = next;
            if (arrival == null && next.growth != null) { // this thread only returns slabs
                carryOut(next);
                return;
            }
        }
    }

    private void carriedOut(SlabExchange exchange) {
        if (exchange != SlabExchange.NONE) {
            carriedOut();
        }
    }

    /** Ends an exchange, or an action counted as an exchange; after the last exchange of a closed set, runs the closer's action. */
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
     * Serves the line after an exchange: its slab has arrived, or could not be acquired, or the exchange has only returned
     * slabs. Returns the next exchange. Waiters are notified after the unlock.
     */
    private SlabExchange serve(@Nullable Arrival arrival, int inVain) {
        boolean held = HeldCallbacks.begin();
        try {
            synchronized (lock) {
                long grants = arbiter.grants();
                slabs.begin(
                        inVain < GROWTHS_AT_ONCE, arrival == null || arrival.slab() == null ? null : arrival.growth());
                if (arrival != null && !arrived(arrival) && arrival.failure() instanceof IreeException failure) {
                    Growth refused = arrival.growth();
                    if (isFinal(failure)) {
                        slabs.begin(true, null);
                        if (arbiter.failFirst(refused.pool(), failure) || !refused.again()) {
                            slabs.askAgain(Long.MAX_VALUE); // for the requests behind the first
                        }
                    } else if (refused.again()) {
                        slabs.askAgain(refused.size()); // for less
                    }
                }
                arbiter.serveAfterMove(); // POOL-6: after a refusal too, for the requests for less
                SlabExchange next = slabs.takeExchange();
                if (next != SlabExchange.NONE) {
                    next.inVain = arbiter.grants() == grants ? inVain + 1 : 0;
                }
                return next;
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /**
     * Returns, under the lock, whether a failure to acquire a slab is final. Only a shortage may end: while memory is
     * in use, or was released and still is in use; or while slabs are on their way to or from the provider, after which
     * the line is served. POOL-6.
     */
    private boolean isFinal(IreeException failure) {
        return failure.code() != StatusCode.RESOURCE_EXHAUSTED
                || arbiter.isNothingLive() && !slabs.isAnyDying(pools) && !slabs.isAnyMoving();
    }

    /** Calls the provider. Converts thrown exceptions to failures, so that the caller can uncharge the bytes. */
    private Arrival acquire(Growth growth) {
        long returns;
        long changes;
        synchronized (lock) {
            returns = slabs.returns();
            changes = slabs.changes();
        }
        try {
            Slab slab = provider.acquire(growth.pool().options(), growth.size(), growth.alignment());
            return new Arrival(growth, slab, null, returns, changes);
        } catch (IreeException e) {
            return new Arrival(growth, null, e, returns, changes);
        } catch (RuntimeException | OutOfMemoryError e) {
            IreeException shortage = IreeException.of(
                    StatusCode.RESOURCE_EXHAUSTED, "no slab of %d bytes: %s".formatted(growth.size(), e), e);
            return new Arrival(growth, null, shortage, returns, changes);
        }
    }

    /** Returns slabs to the provider. A failure for one slab does not affect the others. */
    private void giveBack(SlabExchange exchange) {
        for (Slab slab : exchange.back) {
            try {
                provider.release(slab);
            } catch (RuntimeException e) {
                LOG.warn("slab of {} bytes could not be returned; its memory is leaked", slab.size(), e);
            }
        }
        if (!exchange.back.isEmpty()) {
            synchronized (lock) {
                slabs.returned(exchange);
                lock.notifyAll(); // POOL-5
            }
        }
    }

    /** Records, under the lock, the arrival of a slab or the failure of its acquisition; returns whether another attempt makes sense. */
    private boolean arrived(Arrival arrival) {
        slabs.got(arrival.growth(), arrival.slab());
        lock.notifyAll(); // POOL-5
        if (arrival.slab() != null) {
            return true;
        }
        long before = slabs.bytes();
        pools.forEach(retention::giveBackAll); // the system may lack the memory of the unused slabs
        if (slabs.bytes() < before || slabs.returns() != arrival.returns()) { // POOL-6
            return true;
        }
        slabs.refused(arrival.growth(), arrival.changes());
        return false;
    }
}
