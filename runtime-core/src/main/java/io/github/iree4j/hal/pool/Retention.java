package io.github.iree4j.hal.pool;

import io.github.iree4j.hal.pool.Block.Home;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * Keeps unused slabs of pools, up to a number of bytes and for a time. Other unused slabs return to the provider, and
 * so do all slabs once the set is closed. Guarded by the lock of the set.
 */
final class Retention {
    private final PoolSet set;
    private final List<Pool> pools;
    private final Slabs slabs;
    private final DeathWatch deathWatch;
    private final LongSupplier clock;
    private final long idleAfter;
    private final IdleAlarm alarm;
    private long lastSweep;
    private boolean closed;

    Retention(PoolSet set, PoolSetBuilder builder, List<Pool> pools, Slabs slabs, DeathWatch deathWatch) {
        this.set = set;
        this.pools = pools;
        this.slabs = slabs;
        this.deathWatch = deathWatch;
        this.clock = builder.clock;
        this.idleAfter = builder.idleAfter;
        this.alarm = new IdleAlarm(builder.delayed);
        this.lastSweep = clock.getAsLong();
    }

    /** Records that a slab is unused, and returns whether nothing else is to be done. Makes no callbacks due. */
    boolean note(Pool pool, Home home) {
        if (closed || pool.options.retained() != Long.MAX_VALUE) {
            return false;
        }
        if (idleAfter == Long.MAX_VALUE) {
            return true;
        }
        long now = clock.getAsLong();
        home.idleSince = now;
        return alarm.isSet() && now - lastSweep < idleAfter;
    }

    /** Handles a slab that may have become unused. */
    void cameBack(Pool pool, Home home) {
        if (home.reserved > 0) {
            return;
        }
        if (closed) {
            slabs.giveBackOne(pool, any -> true);
            return;
        }
        if (idleAfter != Long.MAX_VALUE) {
            long now = clock.getAsLong();
            home.idleSince = now;
            alarm.arm(set, idleAfter);
            if (now - lastSweep >= idleAfter) {
                sweep(now);
            }
        }
        keepWithin(pool);
    }

    /** Trims all pools after the last user of a block has finished. */
    void completed() {
        pools.forEach(this::keepWithin);
    }

    /** Trims a pool to its retained bytes. Slabs still in use are checked again when their users have finished. */
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

    /** Returns slabs that have been idle long enough, and sets the alarm for the next. */
    void woken() {
        alarm.rang();
        if (!closed) {
            long now = clock.getAsLong();
            sweep(now);
            long next = nextIdle(now);
            if (next > 0) {
                alarm.arm(set, next);
            }
        }
    }

    /** Returns the nanoseconds until the next unused slab may be returned; 0 when there is none. */
    private long nextIdle(long now) {
        long[] next = {Long.MAX_VALUE};
        for (Pool pool : pools) {
            pool.store.idleBytes(
                    home -> {
                        long left = idleAfter - (now - home.idleSince);
                        // otherwise the last user has not finished
                        next[0] = Math.min(next[0], left > 0 ? left : idleAfter);
                        return true;
                    },
                    any -> true);
        }
        return next[0] == Long.MAX_VALUE ? 0 : next[0];
    }

    /** Returns all unused slabs of a pool. */
    void giveBackAll(Pool pool) {
        giveBackAll(pool, any -> true);
    }

    private void giveBackAll(Pool pool, Predicate<Home> may) {
        while (slabs.giveBackOne(pool, may)) {
            // one at a time
        }
    }

    /** Stops keeping slabs. See {@link Slabs#close}. */
    void close(Runnable whenReturned) {
        closed = true;
        slabs.close(whenReturned);
        pools.forEach(this::giveBackAll);
    }
}
