package io.github.iree4j.hal.pool;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Explains why a request is not granted. Services pass the message on to their clients, so the message has the request,
 * the binding limit, the work that would have to end, and the remedy, but neither names of programs nor bytes held by
 * anybody: even the requester may be a nested call of a program unknown to the client. {@link #details} has the rest,
 * for the log. Guarded by the lock of the set.
 */
final class Shortage {
    private static final String RAISE = "raise the limit (memoryLimit or memoryQuota; with Spring iree.pools.<device>)";
    private static final String LOWER =
            "lower the limit (memoryLimit; with Spring iree.pools.<device>) to what the system has";
    private static final String LESS = "use less in one call (smaller inputs or a smaller batch)";
    private static final int NAMED = 8; // most holders in a line of the log

    /** What would make room for a request, and the remedy, besides another limit. */
    private enum Room {
        OTHERS("it fits once others have ended", "make fewer calls at once"),
        KEPT("it fits once results or tensors are closed", "close them"),
        OTHERS_AND_KEPT(
                "it fits once others have ended and results or tensors are closed",
                "close them and make fewer calls at once"),
        PROGRAMS("it fits once programs are unloaded", "unload programs"),
        CALLS_BEHIND("calls that wait for this one hold what it lacks", "make fewer calls at once"),
        PROCESSES("all memory in use here is less, and it may fit once other processes have ended", LESS),
        NONE("it does not fit beside what its own call holds", LESS);

        final String text;
        final String remedy;

        Room(String text, String remedy) {
            this.text = text;
            this.remedy = remedy;
        }
    }

    private final List<Pool> pools;
    private final Slabs slabs;
    private final Resolution resolution;
    private final HoldingList holdings;
    private final Accounts accounts;
    private final long capacity;
    private final Supplier<String> owner;

    Shortage(
            PoolSetBuilder builder,
            List<Pool> pools,
            Slabs slabs,
            Resolution resolution,
            HoldingList holdings,
            Accounts accounts) {
        this.pools = pools;
        this.slabs = slabs;
        this.resolution = resolution;
        this.holdings = holdings;
        this.accounts = accounts;
        this.capacity = builder.provider.capacity();
        this.owner = builder.owner;
    }

    // ---- For the requester.

    /** Returns the message for a request exceeding a limit by itself. */
    String never(Pool pool, ReservationRequest request, Account account) {
        long length = pool.store.lengthFor(request.size());
        String limit = length > account.quota
                ? quota(request, account)
                : length > pool.options.budget()
                        ? "pool '%s' has at most %d bytes".formatted(pool.name(), pool.options.budget())
                        : length > slabs.budget ? limit() : "the system has at most %d bytes".formatted(capacity);
        return "allocation of %d bytes exceeds the memory limit and can never fit: %s; raise the limit or use less at once"
                .formatted(request.size(), limit);
    }

    /** Returns the message for a request that cannot wait. */
    String now(Pool pool, ReservationRequest request, Account account) {
        return "allocation of %d bytes exceeds the memory limit now: %s; %s; close buffers or raise the limit"
                .formatted(request.size(), binding(pool, request, account), room(pool, request, account).text);
    }

    /** Returns the message for a request after the longest permitted wait. */
    String late(Waiter waiter, long waited) {
        return "allocation of %d bytes has waited %d ms for memory, the longest wait allowed: %s"
                .formatted(waiter.request.size(), TimeUnit.NANOSECONDS.toMillis(waited), state(waiter));
    }

    /** Returns the message for a request without a prospect of memory. */
    String inVain(Waiter waiter) {
        return "allocation of %d bytes waited for memory that no running work will free: %s"
                .formatted(waiter.request.size(), state(waiter));
    }

    /** Returns the message for a request without a prospect of memory, failed in favour of another request. */
    String forAnother(Waiter waiter) {
        return "allocation of %d bytes is given up for an older request: each of the calls in flight holds memory that another waits for: %s"
                .formatted(waiter.request.size(), state(waiter));
    }

    /** The binding limit, what would make room, and the remedies that help. */
    private String state(Waiter waiter) {
        Room room = room(waiter.pool, waiter.request, waiter.account);
        return "%s; %s; %s, or %s"
                .formatted(
                        binding(waiter.pool, waiter.request, waiter.account),
                        room.text,
                        room.remedy,
                        isRefused(waiter.pool, waiter.request, waiter.account) ? LOWER : RAISE);
    }

    private String binding(Pool pool, ReservationRequest request, Account account) {
        return account.isOverQuota(pool.store.lengthFor(request.size()))
                ? quota(request, account)
                : slabs.isRefused(pool, request) ? "the system refused %d bytes".formatted(pool.refused) : limit();
    }

    /** Whether a request waits for the system, and for no limit. */
    private boolean isRefused(Pool pool, ReservationRequest request, Account account) {
        return !account.isOverQuota(pool.store.lengthFor(request.size())) && slabs.isRefused(pool, request);
    }

    /** The binding quota. A nested call may belong to a program unknown to the client, so its quota is not given. */
    private String quota(ReservationRequest request, Account account) {
        MemoryHolder holder = request.holder();
        return holder != null && holder.isNested()
                ? "it exceeds a quota" + ofOwner()
                : "the quota%s is %d bytes".formatted(ofOwner(), account.quota);
    }

    private String limit() {
        return slabs.budget == Long.MAX_VALUE
                ? "there is no limit" + ofOwner()
                : "the limit%s is %d bytes".formatted(ofOwner(), slabs.budget);
    }

    private String ofOwner() {
        String name = owner.get();
        return name.isEmpty() ? "" : " of " + name;
    }

    private Room room(Pool pool, ReservationRequest request, Account account) {
        MemoryHolder holder = request.holder();
        Holding own = holder == null ? null : holder.knownHoldingIn(pool.set);
        Predicate<Block> work = block -> !isKept(block) && !isOf(block, own) && !waitsFor(block, own);
        Predicate<Block> host = block -> isKept(block) && !isOfProgram(block);
        if (fits(pool, request, account, work)) {
            return Room.OTHERS;
        }
        if (fits(pool, request, account, host)) {
            return Room.KEPT;
        }
        if (fits(pool, request, account, work.or(host))) {
            return Room.OTHERS_AND_KEPT;
        }
        if (fits(pool, request, account, block -> !isOf(block, own) && !waitsFor(block, own))) {
            return Room.PROGRAMS;
        }
        if (fits(pool, request, account, block -> !isOf(block, own))) {
            return Room.CALLS_BEHIND;
        }
        return isRefused(pool, request, account) && !fits(pool, request, account, block -> true)
                ? Room.PROCESSES
                : Room.NONE;
    }

    /** Whether a request would not fit even if all memory except its own call's were free. What the system has is unknown. */
    boolean isOwnFault(Waiter waiter) {
        return !isRefused(waiter.pool, waiter.request, waiter.account)
                && room(waiter.pool, waiter.request, waiter.account) == Room.NONE;
    }

    private boolean fits(Pool pool, ReservationRequest request, Account account, Predicate<Block> gone) {
        return resolution.fits(pool, request, account, gone);
    }

    private static boolean isKept(Block block) {
        return block.holding == null ? block.persistent : block.holding.isOver();
    }

    private static boolean isOfProgram(Block block) {
        return block.holding != null && block.holding.holder.isKept();
    }

    /** Whether a block belongs to a call waiting for the holding's call to end. */
    private static boolean waitsFor(Block block, @Nullable Holding holding) {
        if (holding == null || block.holding == null) {
            return false;
        }
        MemoryHolder holder = block.holding.holder.isBehind();
        for (int i = 0; holder != null && i < Hope.DEEPEST; i++) {
            if (holder.equals(holding.holder)) {
                return true;
            }
            holder = holder.isBehind();
        }
        return false;
    }

    private static boolean isOf(Block block, @Nullable Holding holding) {
        return holding != null && holding.equals(block.holding);
    }

    // ---- For the log.

    /** The details left out of a message: the requester, the available memory in slabs, and the bytes of each holder. */
    String details(Pool pool, ReservationRequest request, Account account) {
        String limit = account.isOverQuota(pool.store.lengthFor(request.size()))
                ? "the quota of %s%s is %d bytes".formatted(account.name(), ofOwner(), account.quota)
                : inSlabs(pool);
        MemoryHolder holder = request.holder();
        return "for %s: %s; %s".formatted(holder == null ? account.name() : holder, limit, holders());
    }

    private String inSlabs(Pool pool) {
        long idle = 0;
        long ownIdle = 0;
        long live = 0;
        for (Pool each : pools) {
            long unused = slabs.idleBytes(each);
            idle += unused;
            live += each.live();
            ownIdle += each.equals(pool) ? unused : 0;
        }
        long room = Math.min(slabs.budget - slabs.bytes() + idle, pool.options.budget() - pool.slabBytes() + ownIdle);
        long held = slabs.bytes() - idle;
        String limit = slabs.budget == Long.MAX_VALUE
                ? "without a limit%s, %d bytes are in use".formatted(ofOwner(), live)
                : "of the limit%s of %d bytes %d are in use".formatted(ofOwner(), slabs.budget, live);
        String largest = slabs.budget == Long.MAX_VALUE && pool.options.budget() == Long.MAX_VALUE
                ? ""
                : ", and a piece can have at most %d".formatted(Math.max(room, pool.store.largestFree()));
        return "%s and %d more in slabs that are in use%s".formatted(limit, Math.max(0, held - live), largest);
    }

    /** Describes the holders and their bytes. */
    String holders() {
        List<Holding> largest = holdings.all().stream()
                .filter(holding -> holding.live > 0)
                .sorted((a, b) -> Long.compare(b.live, a.live))
                .toList();
        String named = largest.stream().limit(NAMED).map(Shortage::describe).collect(Collectors.joining(", "));
        String more = largest.size() > NAMED ? " and %d more".formatted(largest.size() - NAMED) : "";
        String consumers = accounts.describe();
        String calls = named + more;
        return calls.isEmpty() ? consumers : consumers.isEmpty() ? calls : calls + "; " + consumers;
    }

    private static String describe(Holding holding) {
        String state = holding.holder.isKept()
                ? "while it is loaded"
                : holding.holder.isComplete()
                        ? "in results that are not closed"
                        : holding.waiting > 0
                                ? "and waits for memory"
                                : holding.holder.awaited() instanceof MemoryHolder inner
                                        ? "and waits for the %s that it made".formatted(inner)
                                        : holding.holder.isBehind() != null
                                                ? "and waits for its turn"
                                                : "and runs or waits for something else";
        return "%s holds %d bytes %s".formatted(holding.holder, holding.live, state);
    }
}
