package io.github.iree4j.hal.pool;

import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One call, as a holder of memory: whatever is allocated on its behalf, by the host or in queue order, is its until it is released. The
 * pools ask it whether it can still run, since waiting for what it has makes sense only then.
 *
 * <p>Requests that a thread makes between {@link #enter} and {@link #leave} are made for the holder, whatever the backend; so are operations
 * submitted there. Safe from any thread.
 */
public final class MemoryHolder {
    private static final ThreadLocal<@Nullable MemoryHolder> CURRENT = new ThreadLocal<>();

    private final String name;
    private volatile @Nullable Stake first; // of a list with one for each set it asked; written under this
    private volatile @Nullable Supplier<@Nullable MemoryHolder> turn;
    private volatile boolean suspended;
    private volatile boolean over;
    private volatile boolean kept;

    /**
     * Makes a holder of nothing.
     *
     * @param name the function, for example {@code module.add}; of a program that is loaded, the program
     */
    public MemoryHolder(String name) {
        this.name = Objects.requireNonNull(name, "name");
    }

    /**
     * Returns the holder that this thread acts for.
     *
     * @return the holder; null when it acts for none
     */
    public static @Nullable MemoryHolder current() {
        return CURRENT.get();
    }

    /**
     * Says that this thread acts for this holder from now on: its code can run, and may release memory.
     *
     * @return what {@link #leave} takes
     */
    public @Nullable MemoryHolder enter() {
        MemoryHolder before = CURRENT.get();
        CURRENT.set(this);
        suspended = false;
        return before;
    }

    /**
     * Says that this thread no longer acts for this holder, whose code waits or has returned: what it has comes back only by work that
     * was submitted.
     *
     * @param before what {@link #enter} returned
     */
    public void leave(@Nullable MemoryHolder before) {
        CURRENT.set(before);
        suspended = true;
        review();
    }

    /**
     * Says that this one cannot begin before another gives up its turn.
     *
     * @param whose who has the turn now, or null; asked with locks held, so it only looks
     */
    public void waitsForTurn(Supplier<@Nullable MemoryHolder> whose) {
        turn = whose;
    }

    /** Says that it has begun: it waits for no turn any more. */
    public void begins() {
        turn = null;
    }

    /** What keeps it from beginning; null when nothing does. */
    @Nullable
    MemoryHolder isBehind() {
        Supplier<@Nullable MemoryHolder> whose = turn;
        MemoryHolder before = whose == null ? null : whose.get();
        return before == this ? null : before;
    }

    /** What it has in a set, if it ever asked there. */
    @Nullable
    Stake knownStakeIn(PoolSet set) {
        for (Stake stake = first; stake != null; stake = stake.next) {
            if (stake.set.equals(set)) {
                return stake;
            }
        }
        return null;
    }

    /** Says that the call is over: what it still has are results, which the host keeps. */
    public void end() {
        over = true;
        review();
    }

    /** Says that this was no call but the loading of a program: what it has stays as long as that does. */
    public void keep() {
        kept = true;
        review();
    }

    private void review() {
        for (Stake stake = first; stake != null; stake = stake.next) {
            stake.set.review(stake);
        }
    }

    /**
     * Returns the most that it had of one set of pools at once.
     *
     * @return bytes; of the set of which it had most
     */
    public long peak() {
        long peak = 0;
        for (Stake stake = first; stake != null; stake = stake.next) {
            peak = Math.max(peak, stake.peak);
        }
        return peak;
    }

    boolean isSuspended() {
        return suspended;
    }

    boolean isKept() {
        return kept;
    }

    boolean isOver() {
        return over;
    }

    /** What it has in a set. Called with the lock of that set held. */
    Stake stakeIn(PoolSet set) {
        Stake known = knownStakeIn(set);
        if (known != null) {
            return known;
        }
        synchronized (this) {
            Stake stake = new Stake(this, set, first);
            first = stake;
            return stake;
        }
    }

    @Override
    public String toString() {
        return (kept ? "program '" : "call of '") + name + "'";
    }

    /** What a holder has in one set of pools. Guarded by the lock of that set. */
    static final class Stake {
        final MemoryHolder holder;
        final PoolSet set;
        final @Nullable Stake next;
        long live;
        boolean kept; // what it has counts as the host's
        volatile long peak; // the most that it had; written under the lock
        int waiting; // requests in line
        boolean failing; // one of them was failed, so that the call ends and gives back what it has
        boolean hopeful; // while the set is looked through

        /** Whom the bytes are accounted to; the first, should there be several. */
        @Nullable
        Account account;

        Stake(MemoryHolder holder, PoolSet set, @Nullable Stake next) {
            this.holder = holder;
            this.set = set;
            this.next = next;
        }
    }
}
