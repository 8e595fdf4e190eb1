package io.github.iree4j.hal.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
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
    /*
     * There is one for each call, and its state changes a dozen times, so what is written costs as little as it may: nobody is told, and
     * all is written in release mode. It is read by looks at a line, of which there is always a next (KNOT-1), which sees what this one is
     * too early for. To say that a holder is over takes the lock of each set anyway.
     */
    private static final ThreadLocal<@Nullable MemoryHolder> CURRENT = new ThreadLocal<>();
    private static final VarHandle FIRST;
    private static final VarHandle TURN;
    private static final VarHandle AWAITED;
    private static final VarHandle SUSPENDED;
    private static final VarHandle OVER;
    private static final VarHandle UNDER_WAY;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            FIRST = lookup.findVarHandle(MemoryHolder.class, "first", Stake.class);
            TURN = lookup.findVarHandle(MemoryHolder.class, "turn", Supplier.class);
            AWAITED = lookup.findVarHandle(MemoryHolder.class, "awaited", MemoryHolder.class);
            SUSPENDED = lookup.findVarHandle(MemoryHolder.class, "suspended", boolean.class);
            OVER = lookup.findVarHandle(MemoryHolder.class, "over", boolean.class);
            UNDER_WAY = lookup.findVarHandle(MemoryHolder.class, "underWay", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final String name;
    private final OperationsUnderWay operations;
    private volatile @Nullable Stake first; // of a list with one for each set it asked
    private volatile @Nullable Supplier<@Nullable MemoryHolder> turn;
    private volatile @Nullable MemoryHolder awaited;
    private volatile boolean suspended;
    private volatile boolean over;
    private volatile boolean kept;
    private volatile int underWay; // operations that are not over
    private long peak; // written by end()

    /**
     * Makes a holder of nothing.
     *
     * @param name the function, for example {@code module.add}; of a program that is loaded, the program
     * @param operations counts its operations, with those of the other calls of its program
     */
    public MemoryHolder(String name, OperationsUnderWay operations) {
        this.name = Objects.requireNonNull(name, "name");
        this.operations = operations;
    }

    /** An operation of it outlives its submission. */
    public void operationBegins() {
        UNDER_WAY.getAndAdd(this, 1);
        operations.begin();
    }

    /** It is over, and has let go of what it used. */
    public void operationEnds() {
        UNDER_WAY.getAndAdd(this, -1);
        operations.end();
    }

    /**
     * Returns whether the call and all that it has submitted are over.
     *
     * @return once true it stays so
     */
    public boolean isFinished() {
        return over && underWay == 0; // what is submitted comes before its end
    }

    /**
     * Returns what counts the operations of its program.
     *
     * @return the same for all calls of a program
     */
    public OperationsUnderWay operations() {
        return operations;
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
        if (suspended) {
            SUSPENDED.setRelease(this, false);
        }
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
        SUSPENDED.setRelease(this, true);
    }

    /**
     * Says that its code blocks until another call has ended, one that it made itself: until then it can run as little as that one. For the
     * thread that acts for it.
     *
     * @param inner the other call
     * @return what {@link #goesOn} takes
     */
    public @Nullable MemoryHolder awaits(MemoryHolder inner) {
        MemoryHolder before = awaited;
        AWAITED.setRelease(this, inner);
        return before;
    }

    /**
     * Says that it no longer waits for another call.
     *
     * @param before what {@link #awaits} returned
     */
    public void goesOn(@Nullable MemoryHolder before) {
        AWAITED.setRelease(this, before);
    }

    /**
     * Says that this one cannot begin before another gives up its turn.
     *
     * @param whose who has the turn now, or null; asked with locks held, so it only looks
     */
    public void waitsForTurn(Supplier<@Nullable MemoryHolder> whose) {
        TURN.setRelease(this, whose);
    }

    /** Says that it has begun: it waits for no turn any more. */
    public void begins() {
        if (turn != null) {
            TURN.setRelease(this, null);
        }
    }

    /** Whose end its code waits for; null when it waits for none that is known. */
    @Nullable
    MemoryHolder awaited() {
        return awaited;
    }

    /** What keeps it from beginning or from going on; null when nothing does. */
    @Nullable
    MemoryHolder isBehind() {
        MemoryHolder inner = awaited;
        if (inner != null) {
            return inner;
        }
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
        OVER.setRelease(this, true);
        review();
    }

    /** Says that this was no call but the loading of a program: what it has stays as long as that does. */
    public void keep() {
        kept = true;
        review();
    }

    private void review() {
        for (Stake stake = first; stake != null; stake = stake.next) {
            peak = Math.max(peak, stake.set.reviewed(stake));
        }
    }

    /**
     * Returns the most that it had of one set of pools at once. For the thread that has said that it is over.
     *
     * @return bytes; of the set of which it had most
     */
    public long peak() {
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
        for (; ; ) { // others may add one of another set
            Stake others = first;
            Stake stake = new Stake(this, set, others);
            if (FIRST.compareAndSet(this, others, stake)) {
                return stake;
            }
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
        long peak; // the most that it had
        int waiting; // requests in line
        boolean failing; // one of them was failed, so that the call is about to end and to give back what it has
        long failedAt; // the clock's nanoseconds
        boolean hopeful; // while the set is looked through

        /** Whom the bytes are accounted to; the first, should there be several. */
        @Nullable
        Account account;

        // Of the list of those that matter to whoever waits.
        @Nullable
        Stake before;

        @Nullable
        Stake behind;

        boolean listed;

        Stake(MemoryHolder holder, PoolSet set, @Nullable Stake next) {
            this.holder = holder;
            this.set = set;
            this.next = next;
        }
    }
}
