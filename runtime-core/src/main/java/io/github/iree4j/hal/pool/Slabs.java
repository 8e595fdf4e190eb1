package io.github.iree4j.hal.pool;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.Block.Home;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * How many slabs the pools of a set have, and may have together. Guarded by the lock of the set. The provider is slow, so it is called
 * without the lock: what is decided here is an {@link Errand} for whoever holds the lock, to be run once it has let go.
 */
final class Slabs {
    /** A slab to get for a pool; its bytes are taken from the budget already. */
    record Growth(Pool pool, long size, long alignment) {}

    /** What is to be done at the provider. */
    static final class Errand {
        static final Errand NONE = new Errand();

        final List<Slab> back = new ArrayList<>(1);

        @Nullable
        Growth growth;
    }

    final long budget;
    private final DeathFrontiers deaths;
    private long bytes;
    private long peak;
    private Errand errand = Errand.NONE;
    private boolean mayGrow;
    private boolean grown;
    private int growing; // slabs that were decided and are not there yet
    private boolean closed;

    Slabs(long budget, DeathFrontiers deaths) {
        this.budget = budget;
        this.deaths = deaths;
    }

    long bytes() {
        return bytes;
    }

    long peak() {
        return peak;
    }

    /** From now on slabs go back whatever their death frontiers say. */
    void close() {
        closed = true;
    }

    /**
     * Begins to decide.
     *
     * @param growing whether one slab may be got
     * @param after whether one was got just before, for what is decided now
     */
    void begin(boolean growing, boolean after) {
        mayGrow = growing;
        grown = after;
    }

    boolean hasGrown() {
        return grown;
    }

    /** Whether memory is being got, which takes long and is nothing that queues know of. */
    boolean isGrowing() {
        return growing > 0;
    }

    /** Returns what was decided since the last call, the caller's to run without the lock. */
    Errand takeErrand() {
        Errand decided = errand;
        errand = Errand.NONE;
        return decided;
    }

    private Errand errand() {
        if (errand == Errand.NONE) {
            errand = new Errand();
        }
        return errand;
    }

    /** Decides to get a slab that holds so much, giving back others for it if need be; returns whether one will come. */
    boolean grow(List<Pool> pools, Pool pool, long length, long alignment) {
        if (!mayGrow) {
            return false;
        }
        if (!canHave(pools, pool, length)) {
            return false; // what is kept would go for nothing
        }
        long size;
        while ((size = pool.store.growth(length, alignment, room(pool))) == 0) {
            if (!shrink(pools, pool, length)) {
                return false;
            }
        }
        mayGrow = false; // one at a time
        charge(pool, size);
        growing++;
        errand().growth = new Growth(pool, size, alignment);
        return true;
    }

    /** Whether there is room for so much once all that nobody uses has gone back. */
    private boolean canHave(List<Pool> pools, Pool pool, long length) {
        if (length <= room(pool)) {
            return true;
        }
        long common = budget - bytes;
        for (Pool each : pools) {
            common += idleBytes(each);
        }
        return length <= common && length <= pool.options.budget() - pool.slabBytes() + idleBytes(pool);
    }

    private long idleBytes(Pool pool) {
        return pool.store.idleBytes(this::mayGoBack, this::isOver);
    }

    private boolean mayGoBack(Home home) {
        return home.accessed == 0;
    }

    private boolean isOver(@Nullable Frontier death) {
        return closed || deaths.isCompleted(death);
    }

    private long room(Pool pool) {
        return Math.min(budget - bytes, pool.options.budget() - pool.slabBytes());
    }

    /** Gives back one slab that nobody uses, of this pool or, if it is the common budget that is short, of any. */
    private boolean shrink(List<Pool> pools, Pool wanting, long length) {
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

    /** Decides to give back a slab of a pool that nobody uses, if there is one. */
    boolean giveBackOne(Pool pool, Predicate<Home> may) {
        Slab slab = pool.store.removeIdle(home -> mayGoBack(home) && may.test(home), this::isOver);
        if (slab == null) {
            return false;
        }
        charge(pool, -slab.size());
        errand().back.add(slab);
        return true;
    }

    /** The errand was run: adds the slab that was got. Null when there is none. */
    void got(Growth growth, @Nullable Slab slab) {
        growing--;
        if (slab == null) {
            charge(growth.pool, -growth.size);
            return;
        }
        growth.pool.store.add(slab);
        if (closed) {
            giveBackOne(growth.pool, home -> true);
        }
    }

    private void charge(Pool pool, long size) {
        pool.slabAdded(size);
        bytes += size;
        peak = Math.max(peak, bytes);
    }
}
