package io.github.iree4j.hal.pool;

import io.github.iree4j.hal.pool.MemoryHolder.Holding;
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
 * The line in which every call waits before occupying memory of a device. A call is admitted while its needed memory
 * fits beside the memory that admitted calls may come to hold and the memory kept by the host.
 *
 * <p><b>Order.</b> Calls are admitted in the order of joining. A call overtakes another call that waits for something
 * else: for its consumer's quota, or for a fence. Otherwise fitting calls overtake the first call that does not fit at
 * most {@link #OVERTAKINGS} times, and with at most as many bytes as there are: small calls of other functions are
 * answered meanwhile, and the large call has its turn.
 *
 * <p><b>Ahead of a fence.</b> A call whose code submits its work behind a fence may be admitted before the fence is
 * reached, for its inputs alone. Once the fence is reached, the call stands in line for the rest of its need, and its
 * requests wait until the rest is committed. No call that is ready to run waits for a call that is not ready, which may
 * wait for the former.
 *
 * <p><b>Unknown needs.</b> A call that might hold more memory than exists, as far as is known, runs alone: the memory
 * held then shows the need of similar calls. Solitude ends after a second, or after {@link PoolSetBuilder#hostPatience}
 * if shorter: the call then counts with the memory held so far. A call that has waited as long for solitude, and as
 * long since the last such admission, is admitted beside others, with the best guess.
 *
 * <p><b>Shut.</b> Where calls have failed so that another may go on, no call is admitted while the released memory is
 * kept for the favoured request ({@link Claim}): the inputs of a new call, which cannot wait, would be refused.
 *
 * <p><b>Several devices.</b> A call that needs memory of several devices joins one gate after the other, in {@link
 * #ORDER}, so that no two calls wait for each other's memory.
 *
 * <p><b>Bounds.</b> While the line moves, a call waits for its turn, however long. The first in line is admitted
 * without room when no call has been admitted for {@link PoolSetBuilder#patience}, or for {@link
 * PoolSetBuilder#hostPatience} while no admitted call runs, since then only the host can release anything. Such a call
 * competes for memory with others, see {@link PoolSet}. Nothing fails here.
 *
 * <p>Safe from any thread.
 */
public final class AdmissionGate {
    /*
     * GATE-1: no fitting call stays outside. A call joins the line before reading the committed and kept bytes, and
     * whether the gate is shut; a thread releasing such bytes, or opening the gate, reads the length of the line
     * afterwards.
     * GATE-2: the bytes committed at admission are released once: by the exit that takes the state from ADMITTED to
     * LEFT.
     * GATE-3: a call that was admitted ahead of its fence gets no memory in queue order once the fence is reached and
     * before its whole need is committed. So calls becoming due together do not each take a part of one call's need.
     */

    /** The order of gates for a call that joins several. */
    public static final Comparator<AdmissionGate> ORDER = Comparator.comparingInt(gate -> gate.number);

    /** The number of overtakings of the first call in line. A guess, not measured. */
    static final int OVERTAKINGS = 32;

    /** The number of calls examined for a fitting call. A guess, not measured. */
    private static final int LOOKED_AT = 64;

    /** The longest solitude of a call with an unknown need, and the longest wait for solitude. A guess, not measured. */
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
            new ArrayList<>(); // ready calls, by age; guarded by lock, as are the next fields
    private final List<Admission> ahead = new ArrayList<>(); // calls that are not ready
    // time of the last admission of a call with an unknown need, by the clock
    private long lastGuess = Long.MIN_VALUE / 2;
    private final List<Admission> alone = new ArrayList<>(); // calls with more committed than their known need
    private boolean isLookDue;
    private volatile int waiting; // number of calls outside

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
     * Admits a ready call at once, without a lock, if the call fits as far as is known, and no other call waits.
     *
     * @param consumer the consumer charged with the memory
     * @param estimate the expected memory of the call
     * @return null when the call has to {@linkplain #join join the line}
     */
    public @Nullable Admission tryAdmit(String consumer, MemoryEstimate estimate) {
        Share quota = quotas.isEmpty() ? null : quotas.get(consumer);
        long need = estimate.bytes();
        if (waiting > 0 || unknown(quota, estimate) > need) {
            return null;
        }
        if (commit(quota, need, 0) != null) {
            return null; // a call that saw no room meanwhile is served when this call joins
        }
        Admission admission = new Admission(this, quota, estimate, false, 0, null, null);
        admission.admitted(need);
        return admission;
    }

    /**
     * Admits a call with work waiting for a fence at once, if the inputs fit, and no other call waits.
     *
     * @param consumer the consumer charged with the memory
     * @param estimate the expected memory of the call
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

    /** Commits in the quota, if there is one, and in all; returns the full share, null when the need is committed. */
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
     * Returns the commitment for a call that might hold more memory than exists, since nothing is known of how many
     * such calls fit beside each other: everything, or the quota, whichever bounds the call; 0 for other calls.
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
     * Adds a call to the line, and admits the call if its turn has come.
     *
     * @param consumer the consumer charged with the memory
     * @param estimate the expected memory of the call
     * @param isAhead whether the call's work waits for a fence, reported as reached through {@link Admission#due}
     * @param told run once when the call is admitted, possibly before this method returns, by a thread that holds
     *     locks: MUST NOT block or lock, MAY start a thread; null for a caller that {@linkplain Admission#await waits}
     *     on this thread
     * @return the place of the call
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

    /** Takes a call out of the line; returns false when the call is not in line. */
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

    /** Records that the fence of a call has been reached: the call stands in line for its need, or for the rest of its need. */
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
                            >= admission.since) { // a call joined in the same tick may wait for the inputs of this call
                at--;
            }
            line.add(at, admission);
            count(); // GATE-1
        }
        look();
    }

    /** Releases the bytes committed to an admitted call. */
    void exit(Admission admission) {
        if (admission.isPlain()) {
            release(admission);
            wake();
            return;
        }
        synchronized (lock) { // after a concurrent end of the call's wait
            line.remove(admission);
            count();
            alone.remove(admission);
            releaseAhead(admission);
            release(admission);
            serve();
        }
    }

    private void release(Admission admission) {
        long needed = admission.estimate.bytes(); // the need shown by the call, if successful
        all.needs(needed);
        all.release(admission.committed(), 0);
        if (admission.quota != null) {
            admission.quota.needs(needed);
            admission.quota.release(admission.committed(), 0);
        }
    }

    /** Stops counting the inputs of a call as inputs of a call admitted for the inputs alone. Under the lock. */
    private void releaseAhead(Admission admission) {
        long inputs = admission.inputs();
        all.releaseAhead(inputs);
        if (admission.quota != null) {
            admission.quota.releaseAhead(inputs);
        }
    }

    /**
     * Runs an action once the whole need of a call is committed, on a separate thread; returns false if the call does
     * not wait for the commitment.
     */
    boolean whenWhole(Admission admission, Runnable action) {
        synchronized (lock) {
            return admission.whenWhole(action);
        }
    }

    /**
     * Whether calls without a holding in the list run: more is committed than to the calls in the list. Under the lock of
     * the set, so that no call enters the list meanwhile.
     */
    boolean runsOthers(HoldingList holdings) {
        synchronized (lock) {
            // read first: a later commitment is not in the sum, since its call has no holding
            long running = all.running();
            Set<Admission> known = new HashSet<>(); // several calls may share an admission
            for (Holding holding : holdings) {
                Admission call = holding.holder.admission(this);
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

    /** Adds to the memory kept by the host or programs, or subtracts. Under the lock of the set, never acquired under this gate's lock. */
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
     * Admits no call within a limit until {@link #open}: released memory is kept for one request, so the inputs of a
     * call would be refused. Under the lock of the set, like {@link #open}.
     *
     * @param quota the limit; null for the limit of the device
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
     * Serves the line, and schedules further service while calls wait, whatever others do: within {@link #solitude}
     * while a waiting call is ready. So exiting or leaving calls need not schedule a look, and no call waits longer for
     * a look.
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
        private final Set<Share> behind = new HashSet<>(); // quotas with waiting calls
        private @Nullable Admission first; // first call waiting for memory
        private long refused = Long.MAX_VALUE; // smallest number of bytes without room
        private long next = Long.MAX_VALUE; // nanoseconds until a call may have waited for long enough

        /** Whether calls further behind may go in. */
        boolean isOpen() {
            return first == null || first.overtakings < OVERTAKINGS && first.overtaken < all.part(Long.MAX_VALUE);
        }

        /** Whether an earlier call waits for the same quota. */
        boolean isBehind(Admission call) {
            return behind.contains(call.quota);
        }

        /** Whether a call with an unknown need has waited for long enough to go in beside others. */
        boolean hasWaitedToBeAlone(Admission call) {
            long waited = now - Math.max(call.readySince, lastGuess);
            next = waited < solitude ? Math.min(next, solitude - waited) : next;
            return waited >= solitude;
        }

        /** Records that a call does not fit. */
        void waits(Admission call, Share full) {
            if (full != all) {
                behind.add(full);
            } else if (first == null) {
                first = call;
            }
        }

        /** Whether the first call waiting for a share has waited for long enough. */
        boolean hasWaited(Admission call, Share full) {
            if (full == all && first != null) {
                return false;
            }
            long waited = now - Math.max(call.readySince, full.lastAdmitted);
            boolean isBrief = full.isQuiet() || waited < hostPatience; // the call may be alone by then
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

    /** Admits the calls whose turn has come; returns the nanoseconds until another call may have waited long enough. Under the lock. */
    private long serve() {
        if (waiting == 0) {
            return Long.MAX_VALUE;
        }
        Look look = new Look();
        endSolitude(look);
        serveReady(look);
        if (look.first == null) { // otherwise calls waiting for fences would take the missing memory
            serveAhead(look);
        }
        count();
        return waiting == 0 ? Long.MAX_VALUE : look.next;
    }

    /** Counts the calls that have run alone for long enough with the memory held so far. */
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
                continue; // not counted: waiters for a quota show nothing about others
            }
            looked++;
            long had = call.inputs();
            long bytes = Math.max(call.estimate.bytes(), had);
            long most = unknown(call.quota, call.estimate);
            boolean isGuess = most > bytes;
            if (!isGuess && bytes - had >= look.refused) {
                continue; // memory was released meanwhile: an earlier call is next
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

    /** Commits everything, or a quota, to a call with an unknown need; returns the share in use, null when committed. */
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
     * Returns the number of calls waiting to be admitted.
     *
     * @return the number at some moment
     */
    public int waiting() {
        return waiting;
    }

    /**
     * Returns the number of bytes that admitted calls may come to hold.
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
