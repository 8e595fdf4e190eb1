package io.github.iree4j.hal.pool;

import io.github.iree4j.hal.pool.Block.Home;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * What pools keep of slabs that nobody uses: so many bytes, so long. The rest goes back to the provider, and everything once the set is
 * closed. Guarded by the lock of the set.
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

    /** Nobody uses a slab any more: notes that, and returns whether there is nothing else to do. Makes no callbacks due. */
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

    /** Nobody uses a slab any more. */
    void cameBack(Pool pool, Home home) {
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

    /** The last user of something is over, so that more may be given back. */
    void completed() {
        pools.forEach(this::keepWithin);
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

    /** Gives back what has been idle for long enough. */
    void sweep() {
        if (idleAfter != Long.MAX_VALUE) {
            sweep(clock.getAsLong());
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

    /** Gives back everything that nobody uses. */
    void giveBackAll(Pool pool) {
        giveBackAll(pool, any -> true);
    }

    private void giveBackAll(Pool pool, Predicate<Home> may) {
        while (slabs.giveBackOne(pool, may)) {
            // one after the other
        }
    }

    /** From now on nothing is kept. */
    void close() {
        closed = true;
        slabs.close();
        pools.forEach(this::giveBackAll);
    }
}
