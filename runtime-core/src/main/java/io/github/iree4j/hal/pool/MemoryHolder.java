package io.github.iree4j.hal.pool;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.CallThreads;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.HeldCallbacks;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One call as a holder of memory: the call owns all memory allocated on its behalf, by the host or in queue order,
 * until release. Pools ask whether the holder can still run, since only then does a wait for its memory make sense.
 *
 * <p>Requests made and operations submitted by a thread between {@link #enter} and {@link #leave} are charged to the
 * holder, whatever the backend. Safe from any thread.
 */
@NotForApplications
public final class MemoryHolder {
    /*
     * There is one holder per call, and its state changes a dozen times, so writes are cheap: release mode, no
     * notification. Only looks at a line read the state, and there is always a next look (DEADLOCK-1), seeing every change
     * missed by an early look. Ending a holder takes the lock of each set anyway.
     */
    private static final ThreadLocal<@Nullable MemoryHolder> CURRENT = new ThreadLocal<>();
    private static final VarHandle FIRST;
    private static final VarHandle TURN;
    private static final VarHandle AWAITED;
    private static final VarHandle SUSPENDED;
    private static final VarHandle FENCES;
    private static final VarHandle OVER;
    private static final VarHandle UNDER_WAY;
    private static final VarHandle USING;
    private static final VarHandle LEFT;
    private static final VarHandle ADMISSIONS;
    private static final VarHandle CALLER;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            FIRST = lookup.findVarHandle(MemoryHolder.class, "first", Holding.class);
            TURN = lookup.findVarHandle(MemoryHolder.class, "turn", Supplier.class);
            AWAITED = lookup.findVarHandle(MemoryHolder.class, "awaited", MemoryHolder.class);
            FENCES = lookup.findVarHandle(MemoryHolder.class, "fences", List.class);
            SUSPENDED = lookup.findVarHandle(MemoryHolder.class, "suspended", boolean.class);
            OVER = lookup.findVarHandle(MemoryHolder.class, "over", boolean.class);
            UNDER_WAY = lookup.findVarHandle(MemoryHolder.class, "underWay", int.class);
            USING = lookup.findVarHandle(MemoryHolder.class, "using", int.class);
            LEFT = lookup.findVarHandle(MemoryHolder.class, "left", boolean.class);
            ADMISSIONS = lookup.findVarHandle(MemoryHolder.class, "admissions", Admission.class);
            CALLER = lookup.findVarHandle(MemoryHolder.class, "caller", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final Runnable NOTHING = () -> {};
    private static final AtomicLong NUMBERS = new AtomicLong();
    private static final AtomicLong ERAS = new AtomicLong();

    private final String name;
    private final long era = ERAS.get();
    private final OperationsUnderWay operations;
    private volatile long number; // assigned on demand
    private volatile @Nullable Holding first; // head of a list with one holding per set
    private volatile @Nullable Supplier<@Nullable MemoryHolder> turn;
    private volatile @Nullable MemoryHolder awaited;
    private volatile boolean suspended;
    private volatile @Nullable List<Fence> fences; // fences awaited by the suspended code
    private volatile boolean over;
    private volatile boolean kept;
    private volatile int underWay; // number of unfinished operations, and of unsettled calls made by this call
    private volatile int using; // number of operations that may use memory; each ends before its signals are made
    private volatile boolean left; // whether the admissions are given up; the outer call no longer counts this call
    private volatile boolean abandoned;
    private volatile @Nullable Thread caller; // while the call runs on the thread that made it
    private boolean works; // whether the caller executes operations of the call; confined to the caller, as is own
    private @Nullable OwnWork own;
    private boolean doesOwnWork; // whether the caller is in doOwnWork
    private WhereShort whereShort = WhereShort.FAIL; // confined to the thread that acts for the call
    private volatile @Nullable CompletableFuture<?> asked; // while that thread waits for memory
    private final @Nullable Object context;
    private final @Nullable MemoryHolder outer;
    private volatile @Nullable Admission admissions; // head of a list with one per set; written through ADMISSIONS
    private volatile boolean settled; // the call has ended
    private Runnable atLast = NOTHING; // published by settled

    /**
     * Creates a holder without memory.
     *
     * @param name the function, for example {@code module.add}; for the loading of a program, the program
     * @param operations the counter of operations shared by all calls of the program
     */
    public MemoryHolder(String name, OperationsUnderWay operations) {
        this(name, operations, null, null);
    }

    /**
     * Creates a holder without memory, with a context of the caller's thread.
     *
     * @param name the function
     * @param operations the counter of operations shared by all calls of the program
     * @param context the result of {@link #context}
     * @param outer the call making this call: memory held by this call is part of the outer call's need, and the outer
     *     call's right to hold memory lasts until both have ended; null for none
     */
    public MemoryHolder(
            String name, OperationsUnderWay operations, @Nullable Object context, @Nullable MemoryHolder outer) {
        this.name = Objects.requireNonNull(name, "name");
        this.operations = operations;
        this.context = context;
        this.outer = outer;
        if (outer != null) {
            UNDER_WAY.getAndAdd(outer, 1);
        }
    }

    /**
     * Returns the context of the caller's thread, which goes with the call's operations even if other threads submit
     * them.
     *
     * @return {@code SchedulingDomain.context()} when the call was made; null for nothing
     */
    public @Nullable Object context() {
        return context;
    }

    /**
     * Returns the called function.
     *
     * @return for example {@code module.add}; for the loading of a program, the program
     */
    public String name() {
        return name;
    }

    /**
     * Begins an era, for an observer to tell later calls from calls that were under way.
     *
     * @return the era, above all earlier eras
     */
    public static long beginEra() {
        return ERAS.incrementAndGet();
    }

    /**
     * Returns whether the call was made since an era began.
     *
     * @param begun the result of {@link #beginEra}
     * @return whether the holder was created afterwards
     */
    public boolean isSince(long begun) {
        return era >= begun;
    }

    /**
     * Returns a number identifying the call in this process.
     *
     * @return the number, always the same; above 0
     */
    public long number() {
        if (number == 0) {
            synchronized (this) {
                if (number == 0) {
                    number = NUMBERS.incrementAndGet();
                }
            }
        }
        return number;
    }

    /** Records an operation of this call outliving the submission. */
    public void operationBegins() {
        UNDER_WAY.getAndAdd(this, 1);
        USING.getAndAdd(this, 1);
        operations.begin();
    }

    /**
     * Records that an operation has released all resources, before the signals are made: whoever learns of a signal
     * finds the memory free.
     */
    public void operationReleases() {
        USING.getAndAdd(this, -1);
    }

    /** Records the end of an operation outliving the submission, after {@link #operationReleases} and the signals. */
    public void operationEnds() {
        boolean isLast = isLast();
        operations.end();
        if (isLast && settled) { // GATE-2
            leaveGates();
        }
    }

    private boolean isLast() {
        return (int) UNDER_WAY.getAndAdd(this, -1) == 1;
    }

    /**
     * Returns whether the call has ended, and all submitted operations have released their resources. True by the time
     * anybody learns of the end of the call from the signals of single operations; of an operation in parts, soon after.
     *
     * @return whether nothing of the call uses memory; once true, always true
     */
    public boolean isFinished() {
        return over && using == 0; // operations begin before the call ends
    }

    /**
     * Returns the number of unfinished operations of the call, and of unfinished calls made by this call.
     *
     * @return the number, at some moment
     */
    public int unfinished() {
        return underWay;
    }

    /**
     * Returns the counter of the program's operations.
     *
     * @return the counter shared by all calls of a program
     */
    public OperationsUnderWay operations() {
        return operations;
    }

    /**
     * Returns the holder that the current thread acts for.
     *
     * @return the holder; null when the thread acts for none
     */
    public static @Nullable MemoryHolder current() {
        return CURRENT.get();
    }

    /**
     * Makes the current thread act for this holder: its code can run, and may release memory.
     *
     * @return the value to pass to {@link #leave}
     */
    public @Nullable MemoryHolder enter() {
        MemoryHolder before = CURRENT.get();
        CURRENT.set(this);
        if (suspended) {
            FENCES.setRelease(this, null);
            SUSPENDED.setRelease(this, false);
        }
        return before;
    }

    /**
     * Ends the current thread's acting for this holder, whose code waits or has returned: only submitted work can
     * release the holder's memory now.
     *
     * @param before the result of {@link #enter}
     */
    public void leave(@Nullable MemoryHolder before) {
        CURRENT.set(before);
        SUSPENDED.setRelease(this, true);
    }

    /**
     * Records that the holder's code suspends, and continues once all of these fences are reached or one has failed.
     * For the thread acting for the holder, before {@link #leave}; a wait for anything else is not recorded.
     *
     * @param awaited the fences, only read, as long as the code waits; none when the code has returned
     */
    public void suspendsUntil(List<Fence> awaited) {
        FENCES.setRelease(this, awaited);
    }

    /**
     * Returns the fences awaited by the holder's code.
     *
     * @return the fences, which may be closed by now; none when the code has returned; null when unknown, or while the
     *     code runs
     */
    public @Nullable List<Fence> suspendedUntil() {
        List<Fence> awaited = fences;
        return suspended ? awaited : null;
    }

    /**
     * Records that the holder's code blocks until another call, made by the holder, has ended: until then the holder
     * can run only if the inner call can. For the thread acting for the holder.
     *
     * @param inner the other call
     * @return the value to pass to {@link #goesOn}
     */
    public @Nullable MemoryHolder awaits(MemoryHolder inner) {
        MemoryHolder before = awaited;
        AWAITED.setRelease(this, inner);
        return before;
    }

    /**
     * Records that the holder no longer waits for another call.
     *
     * @param before the result of {@link #awaits}
     */
    public void goesOn(@Nullable MemoryHolder before) {
        AWAITED.setRelease(this, before);
    }

    /**
     * Records that this call cannot begin before another call gives up its turn.
     *
     * @param whose returns the call that has the turn now, or null; called with locks held, so must not lock or block
     */
    public void waitsForTurn(Supplier<@Nullable MemoryHolder> whose) {
        TURN.setRelease(this, whose);
    }

    /** Records that the call has begun and no longer waits for a turn. */
    public void begins() {
        if (turn != null) {
            TURN.setRelease(this, null);
        }
    }

    /** The call whose end the holder's code waits for; null when none is known. */
    @Nullable
    MemoryHolder awaited() {
        return awaited;
    }

    /** The call that keeps this call from beginning or from continuing; null when none does. */
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

    /** The holding in a set, if there is one. */
    @Nullable
    Holding knownHoldingIn(PoolSet set) {
        for (Holding holding = first; holding != null; holding = holding.next) {
            if (holding.set.equals(set)) {
                return holding;
            }
        }
        return null;
    }

    /**
     * Records that the call is made by the current thread: an interrupt of the thread before {@link #end} abandons the
     * call.
     *
     * @param works whether the thread executes {@link #doOwnWork} whenever it waits, and may execute operations of the
     *     call
     */
    public void calledHere(boolean works) {
        this.works = works;
        CALLER.setRelease(this, Thread.currentThread());
    }

    /**
     * Returns whether the current thread has made the call, waits for the call, and may execute the call's operations.
     *
     * @return false also for a call without a waiting thread
     */
    public boolean isWorkedOnHere() {
        return Thread.currentThread().equals(caller) && works;
    }

    /**
     * Returns whether work may be left to the current thread: the thread of the call runs code of the call, or does own
     * work. LANE-4: a waiting thread does no own work, though other work done while the thread waits may make work due.
     *
     * @return false where {@link #isWorkedOnHere} is false
     */
    public boolean takesOwnWorkHere() {
        return isWorkedOnHere() && (doesOwnWork || CURRENT.get() == this);
    }

    /**
     * Leaves work to the thread of the call, to be done when the thread comes to wait. Earlier work left to the thread
     * is passed on: both may run at once. For the thread for which {@link #takesOwnWorkHere} holds.
     *
     * @param work work of the call
     */
    public void takesOn(OwnWork work) {
        OwnWork before = own;
        own = work;
        if (before != null) {
            before.handOn();
        }
    }

    /**
     * Does the work left to the thread of the call, including work left meanwhile. LANE-4: for the thread of the call,
     * before a wait for operations.
     */
    public void doOwnWork() {
        doesOwnWork = true;
        for (OwnWork work = own; work != null; work = own) {
            own = null;
            work.run();
        }
        doesOwnWork = false;
    }

    /** LANE-4: passes on the work left to the thread of the call, since the thread is about to wait for something else, or leaves. */
    public void handOnOwnWork() {
        OwnWork work = own;
        if (work != null) {
            own = null;
            work.handOn();
        }
    }

    /**
     * Makes the holder's requests for memory of its inputs, on the current thread.
     *
     * @param gate the line of the device; null for a device without pools
     * @param consumer the consumer charged with the memory
     * @param mayWait whether requests wait in line for memory held by others: only on a thread that may block and holds
     *     no lock
     * @param requests acts for the holder
     * @return false if memory was short, and the requests are to be made again; never if requests wait
     * @throws IreeException as the requests; CANCELLED if the thread is interrupted while waiting, or the call abandoned
     */
    public boolean request(@Nullable AdmissionGate gate, String consumer, boolean mayWait, Runnable requests) {
        // A nested call takes no turn: the call with the turn may wait for memory of the outer call.
        InputTurn turn = mayWait && gate != null && outer == null ? gate.inputs(consumer) : null;
        CompletableFuture<Void> place = turn == null ? null : turn.take(this);
        MemoryHolder before = enter();
        whereShort = mayWait ? WhereShort.WAIT : WhereShort.REPEAT;
        try {
            requests.run();
            return true;
        } catch (IreeException e) {
            if (!mayWait && e.code() == StatusCode.DEFERRED) {
                return false;
            }
            throw e;
        } finally {
            whereShort = WhereShort.FAIL;
            leave(before);
            if (turn != null && place != null) {
                turn.leave(place);
            }
        }
    }

    /** What happens to requests of the current thread for memory kept by the host that cannot be granted at once. */
    WhereShort whereShort() {
        return whereShort;
    }

    /**
     * Returns whether the thread acting for the call waits for memory kept by the host, or for the turn to request such
     * memory. Safe from any thread.
     *
     * @return the answer at one moment; false from the grant on, though the thread may not have woken up
     */
    public boolean isAwaitingMemory() {
        CompletableFuture<?> event = asked;
        return event != null && !event.isDone();
    }

    /** Waits on the thread acting for the holder. An interrupt, or {@link #abandon}, ends the wait with CANCELLED. */
    <T extends @Nullable Object> T await(CompletableFuture<T> event) {
        asked = event;
        MemoryHolder before = CURRENT.get();
        leave(null); // only others can release the missing memory
        try {
            handOnOwnWork();
            if (isAbandoned()) { // perhaps before the event was visible
                InputWait.end(event, name);
            }
            HeldCallbacks.help(); // the event may need callbacks of this thread
            return InputWait.await(event, name);
        } finally {
            asked = null;
            enter();
            CURRENT.set(before);
        }
    }

    /** Records that the call is abandoned: the results of its operations are not wanted. */
    public void abandon() {
        abandoned = true;
        CompletableFuture<?> event = asked;
        if (event != null) {
            InputWait.end(event, name);
        }
    }

    /**
     * Returns whether the call or its program is abandoned: operations in progress may stop.
     *
     * @return whether the call is abandoned; once true, always true, unless the call ends
     */
    public boolean isAbandoned() {
        Thread own = caller;
        return abandoned || operations.isAbandoned() || own != null && own.isInterrupted();
    }

    /** Ends the call: memory still held is in results, kept by the host. */
    public void end() {
        handOnOwnWork();
        CALLER.setRelease(this, (Thread) null);
        OVER.setRelease(this, true);
        review();
    }

    /**
     * Grants the call the right to hold memory of a set. The right is given up at once if the call has {@linkplain
     * #settle settled} meanwhile.
     *
     * @param given the right to hold memory, given up when the call has settled
     */
    public void admitted(Admission given) {
        given.heldBy(this);
        Admission others;
        do {
            others = admissions;
            given.next = others;
        } while (!ADMISSIONS.compareAndSet(this, others, given));
        if (settled) { // perhaps before the right was in the list
            CallThreads.start("iree4j-memory", given::exit); // the caller may hold the lock of the gate
        }
    }

    /**
     * Returns the right to hold memory of a set.
     *
     * @param gate the gate of the set
     * @return the right; for a call made by another call, the outer call's; null for a call that requested no
     *     admission, being known to need no memory
     */
    public @Nullable Admission admission(AdmissionGate gate) {
        for (Admission given = admissions; given != null; given = given.next) {
            if (given.gate.equals(gate)) {
                return given;
            }
        }
        return outer == null ? null : outer.admission(gate);
    }

    /** Whether the call stands in line for the rest of its need in a set: nothing of the call continues until other calls have ended. */
    boolean isShort(AdmissionGate gate) {
        Admission given = admission(gate);
        return given != null && given.isShort();
    }

    /**
     * Gives up the right to hold memory, once the call's operations and the calls made by this call have finished.
     * After {@link #end}.
     *
     * @param before run before giving up the right: the {@linkplain #peak peaks} are known then; MUST NOT block
     */
    public void settle(Runnable before) {
        atLast = before;
        settled = true;
        if (underWay == 0) { // GATE-2
            leaveGates();
        }
    }

    private void leaveGates() {
        if (left || !LEFT.compareAndSet(this, false, true)) {
            return;
        }
        atLast.run();
        for (Admission given = admissions; given != null; given = given.next) {
            given.exit();
        }
        atLast = NOTHING; // results refer to this holder, which must not refer to the future with the results
        MemoryHolder by = outer;
        if (by != null && by.isLast() && by.settled) {
            by.leaveGates();
        }
    }

    /** Marks this holder as the loading of a program rather than a call: its memory stays while the program is loaded. */
    public void keep() {
        kept = true;
        review();
    }

    private void review() {
        for (Holding holding = first; holding != null; holding = holding.next) {
            holding.set.reviewed(holding);
        }
    }

    /**
     * Visits the gates of the sets whose memory has been held by this call and the calls made by this call.
     *
     * @param visitor sees the sets of this moment
     */
    public void forEachGate(Consumer<AdmissionGate> visitor) {
        for (Holding holding = first; holding != null; holding = holding.next) {
            visitor.accept(holding.set.gate());
        }
    }

    /**
     * Returns the most memory of a set held at once by this call together with the calls made by this call.
     *
     * @param gate the gate of the set
     * @return bytes, at some moment
     */
    public long peak(AdmissionGate gate) {
        for (Holding holding = first; holding != null; holding = holding.next) {
            if (holding.set.gate().equals(gate)) {
                return holding.peak();
            }
        }
        return 0;
    }

    /** Whether another call has made this call. */
    boolean isNested() {
        return outer != null;
    }

    boolean isSuspended() {
        return suspended;
    }

    boolean isKept() {
        return kept;
    }

    boolean isComplete() {
        return over;
    }

    /** The holding in a set, created if need be. Called with the lock of the set held. */
    Holding holdingIn(PoolSet set) {
        Holding known = knownHoldingIn(set);
        if (known != null) {
            return known;
        }
        for (; ; ) { // other threads may add holdings of other sets
            Holding others = first;
            Holding holding = new Holding(this, set, others, outer == null ? null : outer.holdingIn(set));
            if (FIRST.compareAndSet(this, others, holding)) {
                return holding;
            }
        }
    }

    @Override
    public String toString() {
        return (kept ? "program '" : "call of '") + name + "'";
    }
}
