package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.HeldCallbacks;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The line in which every call waits before occupying memory of a device. A call is admitted while its needed memory
 * fits beside the memory that admitted calls may come to hold and the memory kept by the host.
 *
 * <p><b>Order.</b> Calls are admitted in the order of joining. A call overtakes another call that waits for something
 * else: for its consumer's quota, or for a fence. Otherwise fitting calls overtake the first call that does not fit at
 * most {@link #OVERTAKINGS} times, and with at most as many bytes as there are: small calls of others are answered
 * meanwhile, and the large call has its turn. Ready calls of a consumer that asks for order never overtake each other.
 *
 * <p><b>Sleeping threads.</b> Room for a call whose thread sleeps is not committed: the thread is called, and commits the
 * room when it runs. Until then newcomers may use the room, within the same limits. Otherwise the memory would be unused
 * while threads wake up, which may take as long as a call.
 *
 * <p><b>Ahead of a fence.</b> A call whose code submits its work behind a fence may be admitted before the fence is
 * reached, for its inputs alone. Once the fence is reached, the call stands in line for the rest of its need, before all
 * calls without inputs, and its requests wait until the rest is committed. No call that is ready to run waits for a call that is not ready, which may
 * wait for the former.
 *
 * <p><b>Unknown needs.</b> A call that might hold more memory than exists, as far as is known, runs alone: the memory
 * held then shows the need of similar calls. Solitude ends after a second, or after {@link PoolSetBuilder#hostPatience}
 * if shorter: the call then counts with the memory held so far. A call that has waited as long for solitude, and as
 * long since the last such admission, is admitted beside others, with the best guess.
 *
 * <p><b>Shut.</b> Where calls have failed so that another may go on, no call is admitted while the released memory is
 * kept for the favoured request ({@link Claim}): the inputs of a new call would take that memory.
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
@NotForApplications
public final class AdmissionGate {
    /*
     * GATE-1: no fitting call stays outside. A call joins the line before reading the committed and kept bytes, and
     * whether the gate is shut; a thread releasing such bytes, or opening the gate, reads the length of the line
     * afterwards.
     * GATE-2: the bytes committed at admission are released once: by the exit that takes the state from ADMITTED to
     * LEFT.
     * GATE-3: a call that was admitted ahead of its fence gets no memory in queue order once the fence is reached and
     * before its whole need is committed. So calls becoming due together do not each take a part of one call's need.
     * GATE-4: a called call stays in line, its thread looks once it runs, and calls further behind do not get its room. A
     * newcomer that uses the room overtakes the call, and counts as such.
     * GATE-5: a ready call with committed inputs stands before every call without: such a call may wait for the room of
     * the inputs. These inputs leave room for the rest of each such call, see Share#tryCommitAhead.
     */

    /** The order of gates for a call that joins several. */
    public static final Comparator<AdmissionGate> ORDER = Comparator.comparingInt(gate -> gate.number);

    /** The number of overtakings of the first call in line. A guess, not measured. */
    static final int OVERTAKINGS = 32;

    /** The number of calls examined for a fitting call. A guess, not measured. */
    private static final int LOOKED_AT = 64;

    /** The number of calls skipped in a look. A guess, not measured. */
    private static final int SKIPPED = 1024;

    /** The longest solitude of a call with an unknown need, and the longest wait for solitude. A guess, not measured. */
    private static final long SOLITUDE = TimeUnit.SECONDS.toNanos(1);

    private static final long SOONEST = TimeUnit.MILLISECONDS.toNanos(10);

    private final int number;
    private final Shares shares;
    private final Share all;
    private final long patience;
    private final long hostPatience;
    private final long solitude;
    private final LongSupplier clock;
    private final LongFunction<Executor> delayed;

    final Object lock = new Object(); // innermost
    // ready calls: with inputs, then without, each by age; guarded by lock, as are the next fields
    private final List<PlaceInLine> line = new ArrayList<>();
    private final List<PlaceInLine> ahead = new ArrayList<>(); // calls that are not ready
    // time of the last admission of a call with an unknown need, by the clock
    private long lastGuess = Long.MIN_VALUE / 2;
    private final List<PlaceInLine> alone = new ArrayList<>(); // calls with more committed than their known need
    private final List<Share> shortOfGuess = new ArrayList<>(); // shares without room for a guess at the latest look
    private boolean isLookDue;
    private volatile int waiting; // number of calls outside

    AdmissionGate(PoolSetBuilder builder, int number) {
        this.number = number;
        this.shares = new Shares(builder);
        this.all = shares.all;
        this.patience = builder.patience;
        this.hostPatience = Math.min(builder.hostPatience, builder.patience);
        this.solitude = Math.min(hostPatience, SOLITUDE);
        this.clock = builder.clock;
        this.delayed = builder.delayed;
    }

    /** The share of a consumer; null without a quota. */
    @Nullable
    Share quota(String consumer) {
        return shares.quota(consumer);
    }

    /** The turn of a consumer's calls whose inputs wait for memory; consumers may wait for their quotas, so each quota has a turn. */
    InputTurn inputs(String consumer) {
        return shares.limit(shares.quota(consumer)).inputs;
    }

    /**
     * Admits a ready call at once if the call fits as far as is known, and no other call waits, or the first in line is
     * still waking up.
     *
     * @param consumer the consumer charged with the memory
     * @param estimate the expected memory of the call
     * @return null when the call has to {@linkplain #join join the line}
     */
    public @Nullable Admission tryAdmit(String consumer, MemoryEstimate estimate) {
        Share quota = shares.quota(consumer);
        long need = estimate.bytes();
        if (shares.unknown(quota, estimate) > need) {
            return null;
        }
        if (waiting > 0 ? !overtakes(quota, need) : shares.commit(quota, need, 0) != null) {
            return null; // a call that saw no room meanwhile is served when this call joins
        }
        Admission admission = new Admission(this, quota, estimate);
        admission.commit(need);
        return admission;
    }

    /** Commits the need of a new call if the first call in line has been called, and has not come yet. GATE-4. */
    private boolean overtakes(@Nullable Share quota, long need) {
        synchronized (lock) {
            PlaceInLine first = line.isEmpty() ? null : line.getFirst();
            if (first == null
                    || !first.isCalled()
                    || first.quota != quota
                    || !mayBeOvertaken(first)
                    || shares.commit(quota, need, 0) != null) {
                return false;
            }
            first.isOvertakenBy(need);
            shares.moves(quota, clock.getAsLong());
            return true;
        }
    }

    private boolean mayBeOvertaken(PlaceInLine first) {
        return first.overtakings < OVERTAKINGS && first.overtaken < all.part(Long.MAX_VALUE);
    }

    /** Gives a called call the room that newcomers have left. On the call's thread. */
    void comes(PlaceInLine call) {
        synchronized (lock) {
            call.comes();
            serve();
        }
    }

    /**
     * Admits a call with work waiting for a fence at once, if the inputs fit, and no other call waits.
     *
     * @param consumer the consumer charged with the memory
     * @param estimate the expected memory of the call
     * @return null when the call has to {@linkplain #join join the line}
     */
    public @Nullable Admission tryAdmitAhead(String consumer, MemoryEstimate estimate) {
        PlaceInLine admission =
                new PlaceInLine(this, "", shares.quota(consumer), estimate, true, clock.getAsLong(), null, null);
        synchronized (lock) {
            if (waiting > 0 || shares.commitAhead(admission) != null) {
                return null;
            }
            admission.admitted(estimate.inputs());
            return admission;
        }
    }

    /**
     * Adds a call to the line, and admits the call if its turn has come.
     *
     * @param consumer the consumer charged with the memory
     * @param inOrder whether the ready calls of the consumer are admitted in the order of joining
     * @param estimate the expected memory of the call
     * @param isAhead whether the call's work waits for a fence, reported as reached through {@link Admission#due}
     * @param told run once when the call is admitted, possibly before this method returns, by a thread that holds
     *     locks: MUST NOT block or lock, MAY start a thread; null for a caller that {@linkplain Admission#await waits}
     *     on this thread
     * @return the place of the call
     */
    public Admission join(
            String consumer,
            boolean inOrder,
            MemoryEstimate estimate,
            boolean isAhead,
            @Nullable Consumer<Admission> told) {
        PlaceInLine admission = new PlaceInLine(
                this,
                inOrder ? consumer : "",
                shares.quota(consumer),
                estimate,
                isAhead,
                clock.getAsLong(),
                told == null ? Thread.currentThread() : null,
                told);
        boolean held = HeldCallbacks.begin(); // so that this thread makes the call, once the lock is released
        try {
            synchronized (lock) {
                (isAhead ? ahead : line).add(admission);
                count(); // GATE-1
            }
            look();
        } finally {
            HeldCallbacks.end(held);
        }
        return admission;
    }

    private void count() {
        waiting = line.size() + ahead.size();
    }

    /** Takes a call out of the line; returns false when the call is not in line. */
    boolean leave(PlaceInLine admission) {
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
    void due(PlaceInLine admission) {
        synchronized (lock) {
            if (!admission.isAhead || admission.isOver()) {
                return;
            }
            admission.ready(clock.getAsLong());
            ahead.remove(admission);
            int at = line.size();
            while (at > 0 && admission.isBefore(line.get(at - 1))) {
                at--;
            }
            line.add(at, admission);
            count(); // GATE-1
        }
        look();
    }

    /** Releases the bytes committed to an admitted call. */
    void exit(Admission admission) {
        PlaceInLine place = admission instanceof PlaceInLine each && !each.isPlain() ? each : null;
        if (place == null) {
            shares.exit(admission);
            if (waiting == 0) { // GATE-1
                return;
            }
        }
        boolean held = HeldCallbacks.begin(); // so that this thread makes the next call, once the lock is released
        try {
            synchronized (lock) {
                if (place != null) { // after a concurrent end of the call's wait
                    line.remove(place);
                    count();
                    alone.remove(place);
                    shares.releaseAhead(place);
                    shares.exit(place);
                }
                serve();
            }
        } finally {
            HeldCallbacks.end(held);
        }
    }

    /** Whether a call outside waits for solitude or for its fence, and not for the room of a guess. Under the lock. */
    boolean isHeldAsUnknown(PlaceInLine call) {
        boolean isShort = shortOfGuess.contains(all) || call.quota != null && shortOfGuess.contains(call.quota);
        return (call.isAhead || !isShort) && shares.unknown(call.quota, call.estimate) > 0;
    }

    /** Whether a call is admitted with so many bytes. */
    boolean hasCommitted(Admission admission, long bytes) {
        synchronized (lock) {
            return admission.isAdmitted() && bytes <= admission.committed();
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

    /** Adds to the memory kept by the host or programs, or subtracts. Under the lock of the set, never acquired under this gate's lock. */
    void keep(@Nullable Share quota, long bytes, boolean byProgram) {
        shares.keep(quota, bytes, byProgram);
        if (bytes < 0) {
            wake();
        }
    }

    /** Admits no call within a limit, null for the limit of the device, until {@link #open}. Both under the lock of the set. */
    void shut(@Nullable Share quota) {
        shares.limit(quota).shut(true);
    }

    /** Admits calls within a limit again. */
    void open(@Nullable Share quota) {
        shares.limit(quota).shut(false);
        wake();
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
        private final Set<String> consumers = new HashSet<>(); // programs with waiting calls
        private @Nullable PlaceInLine first; // first call waiting for memory
        private long refused = Long.MAX_VALUE; // smallest number of bytes without room
        private long next = Long.MAX_VALUE; // nanoseconds until a call may have waited for long enough
        private final List<PlaceInLine> called = new ArrayList<>(0); // with their need committed during the look

        /** Whether calls further behind may go in. */
        boolean isOpen() {
            return first == null || mayBeOvertaken(first);
        }

        /** Whether an earlier call waits for the same quota, or is a call of the same program. */
        boolean isBehind(PlaceInLine call) {
            return behind.contains(call.quota) || consumers.contains(call.order);
        }

        /** Records that a call stays in line. */
        private void stays(PlaceInLine call) {
            if (!call.order.isEmpty()) {
                consumers.add(call.order);
            }
        }

        /** Whether a call with an unknown need has waited for long enough to go in beside others. */
        boolean hasWaitedToBeAlone(PlaceInLine call) {
            long waited = now - Math.max(call.readySince, lastGuess);
            next = waited < solitude ? Math.min(next, solitude - waited) : next;
            return waited >= solitude;
        }

        /** Records that a call does not fit. */
        void waits(PlaceInLine call, Share full) {
            stays(call);
            if (full != all) {
                behind.add(full);
            } else if (first == null) {
                first = call;
            }
        }

        /** Whether the first call waiting for a share has waited for long enough. */
        boolean hasWaited(PlaceInLine call, Share full) {
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

        /** Whether a fitting call is left to its sleeping thread: a newcomer may use the room until the thread runs. */
        boolean mayCall(PlaceInLine call) {
            return first == null && call.isAsleep() && mayBeOvertaken(call);
        }

        /** GATE-4: calls the thread of a fitting call. Only newcomers have the room, not the calls behind. */
        void calls(PlaceInLine call, long bytes) {
            stays(call);
            call.offered = bytes;
            called.add(call);
            call.call();
            next = Math.min(next, solitude);
        }

        /** Gives back the room of the called calls. */
        void end() {
            called.forEach(call -> shares.release(call.quota, call.offered, 0));
        }

        void admit(PlaceInLine call, long committed, boolean isGuess) {
            if (first != null) {
                first.isOvertakenBy(committed - call.inputs());
            }
            shares.moves(call.quota, now);
            if (isGuess) {
                lastGuess = now;
                call.alone(now);
                alone.add(call);
                next = Math.min(next, solitude);
            }
            shares.releaseAhead(call);
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
        look.end();
        count();
        return waiting == 0 ? Long.MAX_VALUE : look.next;
    }

    /** Counts the calls that have run alone for long enough with the memory held so far. */
    private void endSolitude(Look look) {
        for (Iterator<PlaceInLine> each = alone.iterator(); each.hasNext(); ) {
            PlaceInLine call = each.next();
            long rest = solitude - (look.now - call.aloneSince);
            if (rest > 0) {
                look.next = Math.min(look.next, rest);
                continue;
            }
            each.remove();
            long before = call.committed();
            long bytes = Math.min(before, Math.max(call.estimate.bytes(), call.peak()));
            shares.release(call.quota, before, bytes);
            call.shrink(bytes);
        }
    }

    private void serveReady(Look look) {
        shortOfGuess.clear();
        int looked = 0;
        int skipped = 0;
        for (Iterator<PlaceInLine> each = line.iterator();
                each.hasNext() && looked < LOOKED_AT && skipped < SKIPPED && look.isOpen(); ) {
            PlaceInLine call = each.next();
            if (look.isBehind(call)) {
                skipped++; // not counted: waiters for a quota, or behind their own program, show nothing about others
                continue;
            }
            looked++;
            long had = call.inputs();
            long bytes = Math.max(call.estimate.bytes(), had);
            long most = shares.unknown(call.quota, call.estimate);
            boolean isGuess = most > bytes;
            if (!isGuess && bytes - had >= look.refused) {
                look.stays(call); // no later call of the same program goes before
                continue; // memory was released meanwhile: an earlier call is next
            }
            long need = isGuess ? most : bytes;
            Share full = isGuess ? shares.commitAll(call, most) : shares.commit(call.quota, bytes, had);
            if (full != null && isGuess && look.hasWaitedToBeAlone(call)) {
                need = bytes;
                full = shares.commit(call.quota, bytes, had);
                if (full != null && !shortOfGuess.contains(full)) {
                    shortOfGuess.add(full);
                }
            }
            boolean isCalled = full == null && !isGuess && look.mayCall(call);
            if (full != null && look.hasWaited(call, full)) {
                need = bytes;
                shares.commitAnyway(call.quota, bytes, had);
                full = null;
            }
            if (isCalled) {
                look.calls(call, bytes);
            } else if (full == null) {
                each.remove();
                look.admit(call, need, isGuess);
            } else {
                look.waits(call, full);
                look.refused = full == all && !isGuess ? Math.min(look.refused, bytes - had) : look.refused;
            }
        }
    }

    private void serveAhead(Look look) {
        int looked = 0;
        for (Iterator<PlaceInLine> each = ahead.iterator(); each.hasNext() && looked < LOOKED_AT; ) {
            PlaceInLine call = each.next();
            if (look.isBehind(call)) {
                continue;
            }
            looked++;
            Share full = shares.commitAhead(call);
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
