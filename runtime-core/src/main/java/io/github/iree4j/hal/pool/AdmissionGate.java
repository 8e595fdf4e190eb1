package io.github.iree4j.hal.pool;

import io.github.iree4j.hal.pool.MemoryHolder.Stake;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The line in which every call waits before anything of it occupies memory of a device. A call is admitted while the memory that it needs
 * fits beside what admitted calls may come to hold and what the host keeps.
 *
 * <p><b>Order.</b> Calls are admitted in the order in which they asked. A call goes past another where that one waits for something else: for
 * its consumer's quota, or for a fence. Else a call that fits goes past the first one that does not {@link #OVERTAKINGS} times at most, and
 * with as many bytes as there are: small calls of other functions are answered meanwhile, and the large one has its turn.
 *
 * <p><b>Ahead of a fence.</b> A call whose code submits its work behind a fence may be admitted before the fence is reached, for its inputs
 * alone; from then on it stands in line for the rest of its need, and its requests wait until it has that. No call that is ready to run
 * waits for one that is not, which may wait for the former.
 *
 * <p><b>Unknown needs.</b> A call that might hold more than there is, for all that is known, runs alone: what it holds then shows what
 * others like it need. Solitude ends after a second, or after {@link PoolSetBuilder#hostPatience} if that is less: the call then counts with
 * what it has held so far. A call that has waited as long to be alone, and as long since the last such call was admitted, is admitted beside
 * others, with the best guess.
 *
 * <p><b>Shut.</b> Where calls have failed so that another may go on, no call is admitted while what they release is kept for that one's request
 * ({@link Claim}): its inputs, which cannot wait, would be refused.
 *
 * <p><b>Several devices.</b> A call that needs memory of several devices asks at one gate after the other, in {@link #ORDER}, so that no two
 * calls wait for what the other has.
 *
 * <p><b>Bounds.</b> While the line moves, a call waits for its turn, however long that takes. The first in line is admitted without room when
 * nobody has been for {@link PoolSetBuilder#patience}, or for {@link PoolSetBuilder#hostPatience} while no admitted call runs, since then only
 * the host can release anything. Such a call competes for memory with others, see {@link PoolSet}. Nothing fails here.
 *
 * <p>Safe from any thread.
 */
public final class AdmissionGate {
    /*
     * GATE-1: no call stays outside that fits. A call joins the line before it reads what is committed and kept, and whether the gate is
     * shut; who releases some of that, or opens the gate, reads the length of the line afterwards.
     * GATE-2: what a call was admitted with is released once: by the exit that takes its state from ADMITTED to LEFT.
     * GATE-3: a call that was admitted ahead of its fence gets no memory in queue order once the fence is reached and before its whole need
     * is committed. So calls that become due together do not each take a part of what one of them needs.
     */

    /** The order in which a call asks at several gates. */
    public static final Comparator<AdmissionGate> ORDER = Comparator.comparingInt(gate -> gate.number);

    /** How often the first call in line is overtaken. A guess, not measured. */
    static final int OVERTAKINGS = 32;

    /** How many calls are looked at for one that fits. A guess, not measured. */
    private static final int LOOKED_AT = 64;

    /** How long a call is alone whose need nobody knows, and waits to be, at most. A guess, not measured. */
    private static final long SOLITUDE = TimeUnit.SECONDS.toNanos(1);

    private static final long SOONEST = TimeUnit.MILLISECONDS.toNanos(10);

    private final int number;
    private final Share all;
    private final Map<String, Share> quotas;
    private final long patience;
    private final long hostPatience;
    private final long solitude;
    private final LongSupplier clock;
    private final LongFunction<Executor> delayed;

    private final Object lock = new Object(); // innermost
    private final List<Admission> line =
            new ArrayList<>(); // calls that are ready, by age; guarded by lock, as are the next
    private final List<Admission> ahead = new ArrayList<>(); // calls that are not
    private long lastGuess = Long.MIN_VALUE / 2; // when a call whose need is not known was admitted, by the clock
    private final List<Admission> alone =
            new ArrayList<>(); // calls to which more is committed than they are known to need
    private boolean isLookDue;
    private volatile int waiting; // calls outside

    AdmissionGate(PoolSetBuilder builder, int number) {
        this.number = number;
        long limit = Math.min(builder.budget, builder.provider.capacity());
        long most = limit / 16;
        this.all = new Share(limit, Math.min(most, builder.sharedSlabs()), Math.min(most, builder.lost()));
        this.quotas = builder.quotas.entrySet().stream()
                .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, each -> new Share(each.getValue(), 0, 0)));
        this.patience = builder.patience;
        this.hostPatience = Math.min(builder.hostPatience, builder.patience);
        this.solitude = Math.min(hostPatience, SOLITUDE);
        this.clock = builder.clock;
        this.delayed = builder.delayed;
    }

    /** The share of a consumer; null without a quota. */
    @Nullable
    Share quota(String consumer) {
        return quotas.get(consumer);
    }

    /**
     * Admits a call that is ready at once, without a lock, if it fits for all that is known, and no other call waits.
     *
     * @param consumer the consumer that its memory is charged to
     * @param estimate what it will hold
     * @return null when the call has to {@linkplain #join join the line}
     */
    public @Nullable Admission tryAdmit(String consumer, MemoryEstimate estimate) {
        Share quota = quotas.isEmpty() ? null : quotas.get(consumer);
        long need = estimate.bytes();
        if (waiting > 0 || unknown(quota, estimate) > need) {
            return null;
        }
        if (commit(quota, need, 0) != null) {
            return null; // a call that saw no room meanwhile is served when this one joins
        }
        Admission admission = new Admission(this, quota, estimate, false, 0, null, null);
        admission.admitted(need);
        return admission;
    }

    /**
     * Admits a call at once whose work waits for a fence, if its inputs fit, and no other call waits.
     *
     * @param consumer the consumer that its memory is charged to
     * @param estimate what it will hold
     * @return null when the call has to {@linkplain #join join the line}
     */
    public @Nullable Admission tryAdmitAhead(String consumer, MemoryEstimate estimate) {
        Admission admission = new Admission(this, quotas.get(consumer), estimate, true, clock.getAsLong(), null, null);
        synchronized (lock) {
            if (waiting > 0 || commitAhead(admission) != null) {
                return null;
            }
            admission.admitted(estimate.inputs());
            return admission;
        }
    }

    private @Nullable Share commit(@Nullable Share quota, long need, long had) {
        return commit(quota, share -> share.tryCommit(need, had), need, had);
    }

    /** Commits in the quota, if there is one, and in all; returns the one that is full, null when the need is committed. */
    private @Nullable Share commit(@Nullable Share quota, Predicate<Share> commit, long need, long had) {
        if (quota != null && !commit.test(quota)) {
            return quota;
        }
        if (commit.test(all)) {
            return null;
        }
        if (quota != null) {
            quota.release(need, had);
        }
        return all;
    }

    /**
     * What to commit to a call that might hold more than there is, since then nothing is known of how many fit beside each other: everything, or
     * its quota, whichever ends what it can hold; 0 for other calls.
     */
    private long unknown(@Nullable Share quota, MemoryEstimate estimate) {
        long most = estimate.most();
        if (most <= estimate.bytes()) {
            return 0;
        }
        if (quota != null && most > quota.limit() && quota.limit() < all.limit()) {
            return quota.limit();
        }
        return most > all.limit() ? Long.MAX_VALUE : 0;
    }

    /**
     * Adds a call to the line, and admits it if its turn has come.
     *
     * @param consumer the consumer that its memory is charged to
     * @param estimate what it will hold
     * @param isAhead whether its work waits for a fence, which {@link Admission#due} says is reached
     * @param told run once when the call is admitted, also before this returns, by a thread that holds locks: MUST NOT block or lock, MAY
     *     start a thread; null for a caller that {@linkplain Admission#await waits} on this thread
     * @return its place
     */
    public Admission join(
            String consumer, MemoryEstimate estimate, boolean isAhead, @Nullable Consumer<Admission> told) {
        Admission admission = new Admission(
                this,
                quotas.get(consumer),
                estimate,
                isAhead,
                clock.getAsLong(),
                told == null ? Thread.currentThread() : null,
                told);
        synchronized (lock) {
            (isAhead ? ahead : line).add(admission);
            count(); // GATE-1
        }
        look();
        return admission;
    }

    private void count() {
        waiting = line.size() + ahead.size();
    }

    /** Takes a call out of the line; false when it is not there. */
    boolean leave(Admission admission) {
        synchronized (lock) {
            if (!admission.leave(true)) {
                return false;
            }
            (admission.isAhead ? ahead : line).remove(admission);
            count();
            serve();
            return true;
        }
    }

    /** The fence of a call has been reached: it stands in line for its need, or for the rest of that. */
    void due(Admission admission) {
        synchronized (lock) {
            if (!admission.isAhead || admission.isOver()) {
                return;
            }
            admission.ready(clock.getAsLong());
            ahead.remove(admission);
            int at = line.size();
            while (at > 0
                    && line.get(at - 1).since
                            >= admission.since) { // whoever asked in the same tick may wait for its inputs
                at--;
            }
            line.add(at, admission);
            count(); // GATE-1
        }
        look();
    }

    /** Releases what an admitted call was committed. */
    void exit(Admission admission) {
        if (admission.isPlain()) {
            release(admission);
            wake();
            return;
        }
        synchronized (lock) { // behind a concurrent end of its wait
            line.remove(admission);
            count();
            alone.remove(admission);
            releaseAhead(admission);
            release(admission);
            serve();
        }
    }

    private void release(Admission admission) {
        long needed = admission.estimate.bytes(); // if it succeeded, what it has shown
        all.needs(needed);
        all.release(admission.committed(), 0);
        if (admission.quota != null) {
            admission.quota.needs(needed);
            admission.quota.release(admission.committed(), 0);
        }
    }

    /** The inputs of a call no longer count as those of a call admitted for its inputs alone. Under the lock. */
    private void releaseAhead(Admission admission) {
        long inputs = admission.inputs();
        all.releaseAhead(inputs);
        if (admission.quota != null) {
            admission.quota.releaseAhead(inputs);
        }
    }

    /** Runs an action once the whole need of a call is committed, on a thread of its own; returns false if the call does not wait for that. */
    boolean whenWhole(Admission admission, Runnable action) {
        synchronized (lock) {
            return admission.whenWhole(action);
        }
    }

    /**
     * Whether calls run that have no stake in the list: more is committed than to the calls in the list. Under the lock of the set, so that
     * no call enters the list meanwhile.
     */
    boolean runsOthers(StakeList stakes) {
        synchronized (lock) {
            long running = all.running(); // read first: what a call commits later is not in the sum, since the call has
            // no stake
            Set<Admission> known = new HashSet<>(); // several calls may have one
            for (Stake stake : stakes) {
                Admission call = stake.holder.admission(this);
                if (call != null && call.isAdmitted() && known.add(call)) {
                    running -= all.part(call.committed()) - all.part(call.inputs());
                }
            }
            return running > 0;
        }
    }

    private void commitAnyway(@Nullable Share quota, long need, long had) {
        all.commit(need, had);
        if (quota != null) {
            quota.commit(need, had);
        }
    }

    /** Adds to what the host or programs keep, or subtracts. Under the lock of the set, which is never acquired under this gate's. */
    void keep(@Nullable Share quota, long bytes, boolean byProgram) {
        all.keep(bytes, byProgram);
        if (quota != null) {
            quota.keep(bytes, byProgram);
        }
        if (bytes < 0) {
            wake();
        }
    }

    /**
     * Admits no call within a limit until {@link #open}: what is released there is kept for one request, so a call's inputs would be refused.
     * Under the lock of the set, as is that.
     *
     * @param quota the limit; null for that of the device
     */
    void shut(@Nullable Share quota) {
        limit(quota).shut(true);
    }

    /** Admits calls within a limit again. */
    void open(@Nullable Share quota) {
        limit(quota).shut(false);
        wake();
    }

    private Share limit(@Nullable Share quota) {
        return quota == null ? all : quota;
    }

    private void wake() {
        if (waiting > 0) { // GATE-1
            synchronized (lock) {
                serve();
            }
        }
    }

    /**
     * Serves the line, and sees to it that this happens again while calls wait, whatever others do: within {@link #solitude} while one of them
     * is ready. So who exits or leaves need not schedule a look, and nobody goes in later than that.
     */
    private void look() {
        long next;
        synchronized (lock) {
            next = serve();
            if (isLookDue || next == Long.MAX_VALUE) {
                return;
            }
            isLookDue = true;
        }
        WeakReference<AdmissionGate> reference = new WeakReference<>(this);
        delayed.apply(Math.max(SOONEST, next)).execute(() -> {
            AdmissionGate gate = reference.get();
            if (gate != null) {
                synchronized (gate.lock) {
                    gate.isLookDue = false;
                }
                gate.look();
            }
        });
    }

    /** A look at the line. Guarded by the lock. */
    private final class Look {
        private final long now = clock.getAsLong();
        private final Set<Share> behind = new HashSet<>(); // quotas that calls wait for
        private @Nullable Admission first; // that waits for memory
        private long refused = Long.MAX_VALUE; // bytes for which there was no room, at least
        private long next = Long.MAX_VALUE; // in how many nanoseconds a call may have waited for long enough

        /** Whether calls further behind may go in. */
        boolean isOpen() {
            return first == null || first.overtakings < OVERTAKINGS && first.overtaken < all.part(Long.MAX_VALUE);
        }

        /** Whether an earlier call waits for the same quota. */
        boolean isBehind(Admission call) {
            return behind.contains(call.quota);
        }

        /** Whether a call whose need is not known has waited for long enough to go in beside others. */
        boolean hasWaitedToBeAlone(Admission call) {
            long waited = now - Math.max(call.readySince, lastGuess);
            next = waited < solitude ? Math.min(next, solitude - waited) : next;
            return waited >= solitude;
        }

        /** A call does not fit. */
        void waits(Admission call, Share full) {
            if (full != all) {
                behind.add(full);
            } else if (first == null) {
                first = call;
            }
        }

        /** Whether the first call that waits for a share has waited for long enough. */
        boolean hasWaited(Admission call, Share full) {
            if (full == all && first != null) {
                return false;
            }
            long waited = now - Math.max(call.readySince, full.lastAdmitted);
            boolean isBrief = full.isQuiet() || waited < hostPatience; // it may be alone by then
            long bound = isBrief ? hostPatience : patience;
            if (bound != Long.MAX_VALUE && waited >= bound) {
                return true;
            }
            next = Math.min(next, Math.min(bound - waited, solitude));
            return false;
        }

        void admit(Admission call, long committed, boolean isGuess) {
            if (first != null) {
                first.overtakings++;
                first.overtaken += committed - call.inputs();
            }
            all.lastAdmitted = now;
            if (call.quota != null) {
                call.quota.lastAdmitted = now;
            }
            if (isGuess) {
                lastGuess = now;
                call.alone(now);
                alone.add(call);
                next = Math.min(next, solitude);
            }
            releaseAhead(call);
            call.admitted(committed);
        }
    }

    /** Admits the calls whose turn has come; returns in how many nanoseconds another may have waited long enough. Under the lock. */
    private long serve() {
        if (waiting == 0) {
            return Long.MAX_VALUE;
        }
        Look look = new Look();
        endSolitude(look);
        serveReady(look);
        if (look.first == null) { // else calls that wait for fences would take what it waits for
            serveAhead(look);
        }
        count();
        return waiting == 0 ? Long.MAX_VALUE : look.next;
    }

    /** Who has run alone for long enough counts with what it has held by then. */
    private void endSolitude(Look look) {
        for (Iterator<Admission> each = alone.iterator(); each.hasNext(); ) {
            Admission call = each.next();
            long rest = solitude - (look.now - call.aloneSince);
            if (rest > 0) {
                look.next = Math.min(look.next, rest);
                continue;
            }
            each.remove();
            long before = call.committed();
            long bytes = Math.min(before, Math.max(call.estimate.bytes(), call.peak()));
            all.release(before, all.part(bytes));
            if (call.quota != null) {
                call.quota.release(before, call.quota.part(bytes));
            }
            call.shrink(bytes);
        }
    }

    private void serveReady(Look look) {
        int looked = 0;
        for (Iterator<Admission> each = line.iterator(); each.hasNext() && looked < LOOKED_AT && look.isOpen(); ) {
            Admission call = each.next();
            if (look.isBehind(call)) {
                continue; // not counted: how many wait for a quota says nothing of others
            }
            looked++;
            long had = call.inputs();
            long bytes = Math.max(call.estimate.bytes(), had);
            long most = unknown(call.quota, call.estimate);
            boolean isGuess = most > bytes;
            if (!isGuess && bytes - had >= look.refused) {
                continue; // released meanwhile: whoever asked before is next
            }
            long need = isGuess ? most : bytes;
            Share full = isGuess ? commitAll(call, most) : commit(call.quota, bytes, had);
            if (full != null && isGuess && look.hasWaitedToBeAlone(call)) {
                need = bytes;
                full = commit(call.quota, bytes, had);
            }
            if (full != null && look.hasWaited(call, full)) {
                need = bytes;
                commitAnyway(call.quota, bytes, had);
                full = null;
            }
            if (full == null) {
                each.remove();
                look.admit(call, need, isGuess);
            } else {
                look.waits(call, full);
                look.refused = full == all && !isGuess ? Math.min(look.refused, bytes - had) : look.refused;
            }
        }
    }

    /** Commits everything, or a quota, to a call whose need is not known; returns the share that is in use, null when it is committed. */
    private @Nullable Share commitAll(Admission call, long most) {
        long had = call.inputs();
        long inputs = call.estimate.inputs();
        Predicate<Share> commit =
                share -> most >= share.limit() ? share.tryCommitAll(inputs, had) : share.tryCommit(most, had);
        return commit(call.quota, commit, most, had);
    }

    private void serveAhead(Look look) {
        int looked = 0;
        for (Iterator<Admission> each = ahead.iterator(); each.hasNext() && looked < LOOKED_AT; ) {
            Admission call = each.next();
            if (look.isBehind(call)) {
                continue;
            }
            looked++;
            Share full = commitAhead(call);
            if (full == all) {
                return;
            }
            if (full != null) {
                look.waits(call, full);
                continue;
            }
            each.remove();
            look.admit(call, call.estimate.inputs(), false);
        }
    }

    private @Nullable Share commitAhead(Admission call) {
        long inputs = call.estimate.inputs();
        long whole = Math.max(call.estimate.bytes(), unknown(call.quota, call.estimate));
        if (call.quota != null && !call.quota.tryCommitAhead(inputs, whole)) {
            return call.quota;
        }
        if (all.tryCommitAhead(inputs, whole)) {
            return null;
        }
        if (call.quota != null) {
            call.quota.release(inputs, 0);
            call.quota.releaseAhead(inputs);
        }
        return all;
    }

    /**
     * Returns how many calls wait to be admitted.
     *
     * @return the number at some moment
     */
    public int waiting() {
        return waiting;
    }

    /**
     * Returns how many bytes admitted calls may come to hold.
     *
     * @return bytes at some moment
     */
    public long committed() {
        return all.committed();
    }

    @Override
    public String toString() {
        return "gate of %s, %d calls outside, patience %d ms"
                .formatted(all, waiting, TimeUnit.NANOSECONDS.toMillis(patience));
    }
}
