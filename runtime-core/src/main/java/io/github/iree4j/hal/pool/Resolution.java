package io.github.iree4j.hal.pool;

import io.github.iree4j.hal.pool.Block.Home;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the calls that have to end for a request to be granted. Computes in the units of granting: free spans of slabs,
 * returnable slabs, budgets and quotas. Assumes the end of all work under way, the host's included, except for work
 * whose end will never be known. Guarded by the lock of the set.
 */
final class Resolution {
    /** Orders requests by the age of their calls, since the requests of a continuing call are younger and younger. */
    static final Comparator<Waiter> OLDEST_CALL_FIRST =
            Comparator.comparingLong(each -> each.holding == null ? each.age : each.holding.age);

    private final List<Pool> pools;
    private final Slabs slabs;
    private final DeathFrontiers deaths;

    /** A request, and the requests to fail for the grant. */
    record Help(Waiter helped, List<Waiter> ending) {}

    Resolution(List<Pool> pools, Slabs slabs, DeathFrontiers deaths) {
        this.pools = pools;
        this.slabs = slabs;
        this.deaths = deaths;
    }

    /**
     * Chooses the calls to end: the calls that began last, for the oldest call that can be helped.
     *
     * @param lost requests without a prospect of memory
     * @param doubted requests that may fail for these
     * @return null when no call's end would help another call
     */
    @Nullable
    Help help(List<Waiter> lost, List<Waiter> doubted) {
        for (Waiter waiter : lost.stream().sorted(OLDEST_CALL_FIRST).toList()) {
            List<Holding> ending = toEnd(waiter, mayEnd(doubted, waiter));
            if (ending != null && !ending.isEmpty()) {
                return new Help(
                        waiter,
                        ending.stream()
                                .map(holding -> youngest(doubted, holding))
                                .toList());
            }
        }
        return null;
    }

    /** The calls that may be ended for a request, the youngest first: calls with all of their requests among the doubted. */
    private static List<Holding> mayEnd(List<Waiter> doubted, Waiter waiter) {
        return doubted.stream()
                .map(each -> each.holding)
                .filter(holding -> holding != null
                        && holding.live > 0
                        && !holding.equals(waiter.holding)
                        && holding.waiting == of(holding, doubted).count())
                .distinct()
                .sorted(Comparator.comparingLong((Holding holding) -> holding.age)
                        .reversed())
                .toList();
    }

    /** The requests of a call among the waiters. */
    static Stream<Waiter> of(Holding holding, List<Waiter> waiters) {
        return waiters.stream().filter(each -> holding.equals(each.holding));
    }

    private static Waiter youngest(List<Waiter> doubted, Holding holding) {
        return of(holding, doubted)
                .max(Comparator.comparingLong(each -> each.age))
                .orElseThrow();
    }

    /**
     * Returns the calls that have to end.
     *
     * @param candidates calls that may be ended, the first to end at the front
     * @return no more candidates than needed, each indispensable; null when the end of all candidates would not help
     */
    private @Nullable List<Holding> toEnd(Waiter waiter, List<Holding> candidates) {
        int enough = candidates.size();
        if (!fitsWithout(waiter, candidates)) {
            return null;
        }
        for (int tooFew = -1; enough - tooFew > 1; ) { // number of leading candidates, from none to all
            int middle = enough + tooFew >>> 1;
            if (fitsWithout(waiter, candidates.subList(0, middle))) {
                enough = middle;
            } else {
                tooFew = middle;
            }
        }
        List<Holding> ending = new ArrayList<>(candidates.subList(0, enough));
        for (int i = ending.size() - 1; i >= 0; i--) { // the candidates most worth keeping first
            Holding spared = ending.remove(i);
            if (!fitsWithout(waiter, ending)) {
                ending.add(i, spared);
            }
        }
        return ending;
    }

    private boolean fitsWithout(Waiter waiter, Collection<Holding> gone) {
        Set<Holding> holdings = new HashSet<>(gone);
        return fits(waiter, block -> block.holding != null && holdings.contains(block.holding));
    }

    /** Whether a request could be granted if the matching reserved blocks were free. */
    boolean fits(Waiter waiter, Predicate<Block> gone) {
        return fits(waiter, gone, null, 0);
    }

    /** The same, also if a pool had grown by a slab of so many bytes before. */
    boolean fits(Waiter waiter, Predicate<Block> gone, @Nullable Pool growing, long bytes) {
        return fits(waiter.pool, waiter.request, waiter.account, gone, growing, bytes);
    }

    /** Whether a request of a pool, charged to an account, could be granted if the matching reserved blocks were free. */
    boolean fits(Pool pool, ReservationRequest request, Account account, Predicate<Block> gone) {
        return fits(pool, request, account, gone, null, 0);
    }

    private boolean fits(
            Pool pool,
            ReservationRequest request,
            Account account,
            Predicate<Block> gone,
            @Nullable Pool growing,
            long bytes) {
        long size = pool.store.lengthFor(request.size());
        long length = pool.needed(size);
        long alignment = Math.max(request.alignment(), pool.alignment);
        Predicate<Block> free = block -> block.free ? !deaths.isNeverKnown(block.death) : gone.test(block);
        Tally own = new Tally(account);
        Tally all = new Tally(account);
        long alike = 0; // bytes of slabs without a block in use, of the pools for the same kind of memory
        for (Pool each : pools) {
            Tally tally = new Tally(account);
            each.store.forEach(block -> tally.add(block, free.test(block)));
            tally.finish();
            all.idle += tally.idle;
            all.freed += tally.freed;
            alike += each.options.memoryType() == pool.options.memoryType() ? tally.idle : 0;
            own = each.equals(pool) ? tally : own;
        }
        if (size > account.quota - account.live() + all.freed) {
            return false;
        }
        long room = Math.min(
                slabs.budget - slabs.bytes() - bytes + all.idle,
                pool.options.budget() - pool.slabBytes() - (pool.equals(growing) ? bytes : 0) + own.idle);
        boolean stay = growing == null || bytes <= slabs.room(growing); // other growths take slabs with free blocks
        // A system that has refused is known to have what it gets back, and not known to have more.
        return stay && pool.store.couldTake(length, alignment, free)
                || pool.store.growth(length, alignment, room) > 0
                        && (!slabs.isRefused(pool, length) || length <= alike);
    }

    /** Whether a request exceeds its quota together with memory held by its own call, whatever others hold. */
    boolean exceedsQuotaAlone(Waiter waiter) {
        long[] own = {0};
        for (Pool each : pools) {
            each.store.forEach(block -> own[0] += isOwn(block, waiter) ? block.used : 0);
        }
        return waiter.length > waiter.account.quota - own[0];
    }

    private static boolean isOwn(Block block, Waiter waiter) {
        return block.holding != null && block.holding.equals(waiter.holding) && waiter.account.equals(block.account);
    }

    /** Adds up the blocks of a pool, slab by slab. */
    private static final class Tally {
        private final Account account;
        private @Nullable Home home;
        private boolean isIdle;
        long idle; // bytes of slabs without a block in use
        long freed; // bytes of the account's blocks to be freed

        Tally(Account account) {
            this.account = account;
        }

        void add(Block block, boolean free) {
            if (block.home != home) {
                finish();
                home = block.home;
                isIdle = true;
            }
            isIdle &= free;
            freed += free && !block.free && account.equals(block.account) ? block.used : 0;
        }

        void finish() {
            idle += home != null && isIdle ? home.slab.size() : 0;
            home = null;
        }
    }
}
