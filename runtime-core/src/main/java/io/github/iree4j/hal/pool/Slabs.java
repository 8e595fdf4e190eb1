package io.github.iree4j.hal.pool;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.pool.Block.Home;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Charges the pools' slabs to the budget. Guarded by the lock of the set. The provider is slow, so it is called without
 * the lock: decisions made here form an {@link SlabExchange}, run by the thread holding the lock after the unlock.
 */
final class Slabs {
    /** A slab to acquire for a pool; the bytes are already charged to the budget. Again: the system has {@linkplain #isRefused refused} it. */
    record Growth(Pool pool, long size, long alignment, boolean again) {}

    /** The calls of the provider to make. */
    static final class SlabExchange {
        static final SlabExchange NONE = new SlabExchange();

        final List<Slab> back = new ArrayList<>(1);

        @Nullable
        Growth growth;

        int inVain; // number of exchanges before this exchange, since the last with a grant
    }

    final long budget;
    private final DeathFrontiers deaths;
    private long bytes;
    private long peak;
    private SlabExchange exchange = SlabExchange.NONE;
    private boolean mayGrow;
    private @Nullable Growth grown;
    private long mayAskAgain; // slabs below this size may be acquired though the system has refused them
    private int growing; // number of slabs decided on but not arrived
    private int growingAgain; // number of these slabs that the system has refused before
    private long changes; // number of events after which the system may have more memory
    private long moves; // number of slabs arrived, refused by the provider, or back at the provider
    private int leaving; // number of slabs given up but not back at the provider
    private long returns; // number of slabs back at the provider
    private int underWay; // number of exchanges taken but not carried out
    private boolean closed;
    private @Nullable Runnable returned; // run once, when a closed set has no exchange under way

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

    /**
     * Closes the set: from now on slabs are returned whatever their death frontiers. Counts as an exchange, to be ended
     * with {@link #carriedOut}.
     *
     * @param whenReturned to be run once no exchange is under way
     */
    void close(Runnable whenReturned) {
        closed = true;
        returned = whenReturned;
        underWay++;
    }

    /**
     * Begins a round of decisions.
     *
     * @param growing whether one slab may be acquired
     * @param after the growth just before, for this round; null without a growth
     */
    void begin(boolean growing, @Nullable Growth after) {
        mayGrow = growing;
        mayAskAgain = 0;
        grown = after;
    }

    /**
     * Lets this round ask for a slab that the system has refused: only the system knows how much memory it has meanwhile.
     *
     * @param below more than the size of the slab
     */
    void askAgain(long below) {
        mayAskAgain = below;
    }

    boolean hasGrown() {
        return grown != null;
    }

    /** Returns whether a request of so many bytes may find its memory in the slab acquired for this round. */
    boolean hasGrownFor(Pool pool, long length) {
        return grown != null && grown.pool.equals(pool) && length <= grown.size;
    }

    /** Whether memory is being acquired, a long operation unknown to queues. */
    boolean isGrowing() {
        return growing > 0;
    }

    /** Whether a slab is being acquired that the system has not just refused: memory may be on its way. */
    boolean isGrowingAnew() {
        return growing > growingAgain;
    }

    /** Whether the system has refused a pool a slab of this size or less, and nothing has changed since. */
    boolean isRefused(Pool pool, long size) {
        return pool.refusedAt == changes && size >= pool.refused;
    }

    /** Whether the system has refused the slab that a request needs, and no limit stands in the way. */
    boolean isRefused(Pool pool, ReservationRequest request) {
        long length = pool.needed(pool.store.lengthFor(request.size()));
        long growth = pool.store.growth(length, Math.max(request.alignment(), pool.alignment), room(pool));
        return growth > 0 && isRefused(pool, length);
    }

    /**
     * Records that the system has refused a slab.
     *
     * @param before the number of changes when the system was asked
     */
    void refused(Growth growth, long before) {
        Pool pool = growth.pool;
        if (before == changes) {
            pool.refused = pool.refusedAt == changes ? Math.min(pool.refused, growth.size) : growth.size;
            pool.refusedAt = changes;
        }
    }

    /** Records an event after which the system may have more memory: memory was released, or work has ended. */
    void changed() {
        changes++;
    }

    /** The number of such events. */
    long changes() {
        return changes;
    }

    /** The number of slabs that are no longer on their way from or to the provider. */
    long moves() {
        return moves;
    }

    /** Whether slabs are on the way from or to the provider; the provider's reports may then be outdated. */
    boolean isAnyMoving() {
        return growing > 0 || leaving > 0;
    }

    /** The number of slabs back at the provider. */
    long returns() {
        return returns;
    }

    /** Records that the slabs of an exchange are back at the provider. */
    void returned(SlabExchange exchange) {
        leaving -= exchange.back.size();
        returns += exchange.back.size();
        moves += exchange.back.size();
        changed();
    }

    /** Returns the decisions since the last call, to be run by the caller without the lock, and ended with {@link #carriedOut}. */
    SlabExchange takeExchange() {
        SlabExchange decided = exchange;
        exchange = SlabExchange.NONE;
        if (decided != SlabExchange.NONE) {
            underWay++;
        }
        return decided;
    }

    /** Records that an exchange has been carried out; after the last exchange of a closed set, returns the action to run without the lock. */
    @Nullable
    Runnable carriedOut() {
        if (--underWay > 0 || !closed) {
            return null;
        }
        Runnable last = returned;
        returned = null;
        return last;
    }

    private SlabExchange exchange() {
        if (exchange == SlabExchange.NONE) {
            exchange = new SlabExchange();
        }
        return exchange;
    }

    /** Decides to acquire a slab of at least this length, returning other slabs first if need be; returns whether a slab will arrive. */
    boolean grow(List<Pool> pools, Pool pool, long length, long alignment) {
        if (!mayGrow || isRefused(pool, length) && length >= mayAskAgain) {
            return false;
        }
        if (!canHave(pools, pool, length)) {
            return false; // returning slabs would not make enough room
        }
        long size;
        while ((size = pool.store.growth(length, alignment, room(pool))) == 0) {
            if (!shrink(pools, pool, length)) {
                return false;
            }
        }
        if (isRefused(pool, size)) {
            size = length; // the system may have just that
        }
        boolean again = isRefused(pool, size);
        mayGrow = false; // one at a time
        charge(pool, size);
        growing++;
        growingAgain += again ? 1 : 0;
        exchange().growth = new Growth(pool, size, alignment, again);
        return true;
    }

    /** Whether there is room for the length once all unused slabs have been returned. */
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

    /** Bytes of returnable slabs. */
    long idleBytes(Pool pool) {
        return pool.store.idleBytes(this::mayGoBack, this::isComplete);
    }

    private boolean mayGoBack(Home home) {
        return home.accessed == 0;
    }

    private boolean isComplete(@Nullable Frontier death) {
        return closed || deaths.isCompleted(death);
    }

    /** Whether freed memory is, or may be, still in use by work under way or by the host: a request then waits, with patience. */
    boolean isAnyDying(List<Pool> pools) {
        for (Pool pool : pools) {
            if (pool.store.isAnyFree(block -> block.home.isLeaving() || !isComplete(block.death))) {
                return true;
            }
        }
        return false;
    }

    /** Bytes by which a pool can grow before slabs are returned. */
    long room(Pool pool) {
        return Math.min(budget - bytes, pool.options.budget() - pool.slabBytes());
    }

    /** Returns an unused slab, of this pool or, if the common budget is short, of any pool. */
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

    /** Decides to return an unused slab of a pool, if there is one. */
    boolean giveBackOne(Pool pool, Predicate<Home> may) {
        Slab slab = pool.store.removeIdle(home -> mayGoBack(home) && may.test(home), this::isComplete);
        if (slab == null) {
            return false;
        }
        charge(pool, -slab.size());
        exchange().back.add(slab);
        leaving++;
        return true;
    }

    /** Completes a growth: adds the acquired slab. Null when there is none. */
    void got(Growth growth, @Nullable Slab slab) {
        growing--;
        growingAgain -= growth.again ? 1 : 0;
        moves++;
        if (slab == null) {
            charge(growth.pool, -growth.size);
            return;
        }
        if (isRefused(growth.pool, growth.size)) {
            changed(); // the refusals are out of date
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
