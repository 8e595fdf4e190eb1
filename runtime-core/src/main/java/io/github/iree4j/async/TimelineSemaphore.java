package io.github.iree4j.async;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.status.WaitTime;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A timeline: a monotonically increasing value that work waits for and signals, with a record of the history before each
 * value.
 *
 * <p>Values are 0 to {@link #MAXIMUM_VALUE}; signalling a value at or below the current value is INVALID_ARGUMENT. A timeline may fail:
 * the first failure is final and reaches all current and future waiters of any value. When the last reference is released while
 * waiters remain, no signaller is left, so the waiters get CANCELLED; waiting alone therefore holds no reference.
 *
 * <p><b>History.</b> A queue attaches the frontiers of its operations: {@link #promise} at the issue of an operation with a signal,
 * {@link #signal(long, Frontier)} when the operation has retired. A waiter for {@code v} inherits the frontier of the <em>earliest</em>
 * known signal at or above {@code v}, not of the latest: a timeline further along creates no dependency. The last few
 * signals are remembered, and promises until the promised value is reached. For an older value, the oldest remembered
 * signal above the value is found. See {@link #lookup}.
 *
 * <p><b>Taint.</b> Values signalled by external code ({@link #signalExternal}) are tainted: the history before
 * such a value is unknown, so a wait for the value is possible but proves nothing. The next internal signal ends the taint.
 *
 * <p>Safe from any thread. Memory: everything done before {@code signal(v)} is visible to a thread that sees {@code v} reached. Signals,
 * failures and reads of values are sequentially consistent across all timelines. The points of a {@link Fence} are signalled, or failed, as
 * one event.
 */
@NotForApplications
public final class TimelineSemaphore extends SignalHistory {
    /*
     * `value`, read through value() where the lock is not held, and failure are written under `lock`. The thread that unlinks a waiter under `lock` owns the
     * delivery (or has cancelled the waiter). SignalHistory records the knowledge about values, and changes under `lock` together with the value.
     *
     *   value >= 0   the value
     *   value < 0    hidden: ~value is the value before a change together with other timelines (a FenceEvent, holding `lock`); a reader
     *                waits for the end of the change
     *
     * SEM-1: a thread that sees value v sees all writes before signal(v) (volatile write and read of `value`).
     * SEM-2: a waiter is delivered or cancelled exactly once (unlinked under `lock`, delivered outside).
     * SEM-3: no waiter is lost: the value is tested again and the waiter linked under the `lock` that signal() holds.
     * SEM-6: value is volatile, not just released: of two threads, each signalling one timeline and reading the other, at
     * least one sees the signal.
     * SEM-7: the first failure is final and reaches every waiter: the failure is set, and waiters are unlinked or refused, under `lock`.
     * SEM-8: a value with several signallers is reached once, by the last: signals are counted, and promises refused, under `lock`.
     */

    /** The largest value a timeline can reach. */
    public static final long MAXIMUM_VALUE = Long.MAX_VALUE - 1;

    private volatile @Nullable QueuePlace
            home; // the first queue with a use; this and the next two fields are written under lock
    private volatile @Nullable SemaphoreScope wider; // the widest between home and others; null while QUEUE_LOCAL
    private volatile boolean kept; // the history is full and complete

    private volatile @Nullable IreeException failure;
    private @Nullable SemaphoreWaiters waiters; // guarded by lock, like the next; created by the first waiter
    private @Nullable JointPoints joints; // created by the first value with several signallers

    private @Nullable TaintWindow taint; // open; guarded by lock

    private volatile long id; // 0 until id() is called; written under NEXT_ID

    private Object name = ""; // written without order: any visible value is whole

    private static final AtomicLong NEXT_ID = new AtomicLong();

    private TimelineSemaphore(SemaphoreOptions options) {
        super(options);
    }

    /**
     * Creates a timeline with the default options.
     *
     * @param initialValue the first value; not negative
     * @return the timeline; the caller closes it
     */
    public static TimelineSemaphore create(long initialValue) {
        return new TimelineSemaphore(SemaphoreOptions.DEFAULTS.withInitialValue(initialValue));
    }

    /**
     * Creates a timeline.
     *
     * @param options the first value, the scope and the history
     * @return the timeline; the caller closes it
     */
    public static TimelineSemaphore create(SemaphoreOptions options) {
        return new TimelineSemaphore(options);
    }

    /**
     * Returns the range of queues allowed to use this timeline.
     *
     * @return the scope given at creation
     */
    public SemaphoreScope scope() {
        return options.scope();
    }

    /**
     * Returns the narrowest scope sufficient for all uses so far, given by the distance between the queues.
     *
     * @return QUEUE_LOCAL for at most one queue, up to PROCESS_LOCAL; never wider than {@link #scope()}, and never narrower
     *     than before
     */
    public SemaphoreScope usedScope() {
        SemaphoreScope widest = wider;
        return widest == null ? SemaphoreScope.QUEUE_LOCAL : widest;
    }

    /**
     * Checks that a queue may wait for or signal this timeline, and records the use. The first queue becomes the home,
     * the origin of scopes; each further queue widens {@link #usedScope()} as needed.
     *
     * @param place the queue
     * @throws IreeException FAILED_PRECONDITION when the scope is too narrow, naming the required scope
     */
    @SuppressWarnings("ReferenceEquality") // the fast path
    public void checkUse(QueuePlace place) {
        QueuePlace first = home;
        if (first == null) {
            first = settle(place);
        }
        if (first != place) {
            SemaphoreScope needed = first.scopeWith(place);
            SemaphoreScope widest = usedScope();
            if (!scope().includes(needed)) { // the text only for a failure
                scope().require(needed, "use by queue '" + place + "' after queue '" + first + "'");
            }
            if (!kept || !widest.includes(needed)) { // SCOPE-2: no other queue proceeds before the history is complete
                widen(first, needed);
            }
        }
    }

    /** Makes a place the home, unless there is a home already; returns the home. */
    private QueuePlace settle(QueuePlace place) {
        lock();
        try {
            QueuePlace first = home;
            if (first == null) {
                first = place;
                home = place;
            }
            return first;
        } finally {
            unlock();
        }
    }

    private void widen(QueuePlace first, SemaphoreScope needed) {
        boolean wasAlone;
        lock();
        try {
            wasAlone = wider == null;
            if (!usedScope().includes(needed)) {
                wider = needed; // SCOPE-2: before the promises are read
            }
        } finally {
            unlock();
        }
        keepHistory();
        PromiseSource source = first.promises();
        if (wasAlone && source != null) {
            List<Frontier> promises;
            lock();
            try {
                promises = promisesOf(first.axis());
            } finally {
                unlock();
            }
            promises.forEach(source::seen);
        }
    }

    /**
     * Switches to the full history with each recent signal and every promise. The first use by a second queue or by
     * external code switches too; a timeline used by a single queue records only the last signal and the last promise.
     * Idempotent.
     */
    public void keepHistory() {
        if (kept) {
            return;
        }
        PromiseSource source = null;
        lock();
        try {
            extend(); // SCOPE-2: promises from now on are recorded
            QueuePlace first = home;
            if (isIncomplete() && first != null) {
                source = first.promises();
            }
        } finally {
            unlock();
        }
        if (source != null) {
            source.recall(this, this::promiseAgain);
        }
        lock();
        try {
            complete();
            kept = true;
        } finally {
            unlock();
        }
    }

    private void promiseAgain(Frontier frontier, long next) {
        lock();
        try {
            if (failure == null && (joints == null || !joints.isJoint(next))) {
                promised(next, frontier, false);
            }
        } finally {
            unlock();
        }
    }

    /** Number of records in the full history; 0 while the history is brief. */
    int historySize() {
        lock();
        try {
            return size();
        } finally {
            unlock();
        }
    }

    /** Returns whether the frontier was produced by the only queue with a use so far. */
    boolean isOwn(Frontier frontier) {
        QueuePlace first = home;
        return first != null && frontier.producerAxis() == first.axis() && wider == null;
    }

    /**
     * Returns the current value, even after a failure.
     *
     * @return the largest value signalled so far
     */
    public long value() {
        long now = value;
        return now >= 0 ? now : shownValue();
    }

    /** Returns the value after a hiding change. */
    private long shownValue() {
        lock();
        try {
            return value;
        } finally {
            unlock();
        }
    }

    /**
     * Returns the failure, if the timeline has failed.
     *
     * @return the first failure, or null
     */
    public @Nullable IreeException failure() {
        if (value < 0) {
            shownValue();
        }
        return failure;
    }

    /**
     * Returns whether the value is reached and the timeline has not failed.
     *
     * @param minimum the value in question
     * @return true if a wait for the value would succeed at once
     */
    public boolean isReached(long minimum) {
        return value() >= minimum && failure == null;
    }

    /**
     * Returns whether external code reached a value, so that the history before the value is unknown.
     *
     * @param reached the value in question
     * @return false for a value with a known history, and for an unreached value
     */
    public boolean isTainted(long reached) {
        // Read the value first: a signal writes the watermark before the value.
        return reached <= value() && reached > knownAcquire();
    }

    /**
     * Finds the earliest signal or promise at or above a value. Normally lock-free; allocates nothing.
     * Does not report failure: check {@link #failure()} afterwards.
     *
     * @param minimum the value in question
     * @param out filled in; contents are undefined when false is returned
     * @return false when the value is neither reached nor promised
     */
    public boolean lookup(long minimum, SignalRecord out) {
        return find(minimum, out);
    }

    /**
     * Returns the frontier before a value: of the earliest known signal or promise at or above the value.
     *
     * @param minimum the value in question
     * @return the frontier, {@link Frontier#UNKNOWN} of a tainted value, or null for a value neither reached nor promised
     */
    public @Nullable Frontier frontierAt(long minimum) {
        SignalRecord found = new SignalRecord();
        return lookup(minimum, found) ? found.frontier() : null;
    }

    /**
     * Promises a signal of a value by an issued operation, and records the operation's frontier. Promises may be made in
     * any order of values and stay until the value is reached or passed, or the timeline fails.
     *
     * @param next the value
     * @param frontier the operation's frontier, with a producer
     * @return false, and nothing is recorded, when the value is reached or promised already or the timeline has failed; the signal will
     *     then be refused too, unless the other promise is broken
     * @throws IreeException INVALID_ARGUMENT when the frontier has no producer or the value is above {@link #MAXIMUM_VALUE}
     */
    public boolean promise(long next, Frontier frontier) {
        if (!frontier.hasProducer()) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "promise of semaphore value " + next + " with frontier " + frontier
                            + " that no operation produced; pass the operation's own");
        }
        return addPromise(next, frontier, isOwn(frontier));
    }

    /**
     * Promises a signal of a value by external code, and records a primitive for waits of devices until then.
     *
     * @param next the value
     * @param primitive a primitive accepted in waits of some backends, such as a point of another device
     * @return false, and nothing is recorded, when the value is reached or promised already or the timeline has failed
     * @throws IreeException INVALID_ARGUMENT when the value is above {@link #MAXIMUM_VALUE}
     */
    public boolean promiseExternal(long next, Object primitive) {
        if (primitive instanceof Frontier) {
            throw IreeException.of(StatusCode.INVALID_ARGUMENT, "a frontier is not a primitive to wait for");
        }
        return addPromise(next, primitive, false);
    }

    /**
     * Returns whether something on the host waits for the value, or for a lower value.
     *
     * @param next the value
     * @return true if a signal of the value would call or wake something now
     */
    public boolean isAwaited(long next) {
        if (waiters == null) { // plain read: a missed waiter registers concurrently
            return false;
        }
        lock();
        try {
            return waiters != null && waiters.isAwaited(next);
        } finally {
            unlock();
        }
    }

    private boolean addPromise(long next, Object what, boolean own) {
        if (next > MAXIMUM_VALUE) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "semaphore value " + next + " cannot be promised; the largest is " + MAXIMUM_VALUE);
        }
        if (!own || isOutOfOrder(next)) {
            keepHistory();
        }
        SemaphoreWaiter knowing;
        lock();
        try {
            // A joint value takes no promise: the last signal is known only afterwards.
            if (failure != null || joints != null && joints.isJoint(next) || !promised(next, what, own)) {
                return false;
            }
            knowing = waiters == null ? null : waiters.takePromised(next);
        } finally {
            unlock();
        }
        SemaphoreWaiter.deliver(knowing, next, null);
        return true;
    }

    /** Under the lock: unlinks the waiters for values up to the limit, and for promises of such values. */
    private @Nullable SemaphoreWaiter takeWaiters(long limit) {
        return waiters == null ? null : waiters.takeReached(limit);
    }

    /**
     * Withdraws a recorded external promise.
     *
     * @param next the value
     * @param primitive the primitive given to {@link #promiseExternal}
     */
    public void withdrawPromise(long next, Object primitive) {
        lock();
        try {
            withdrawn(next, primitive);
        } finally {
            unlock();
        }
    }

    /**
     * Advances the timeline from the host and runs the timepoints that become due. The value gets an empty frontier.
     * Unlike taint, an empty frontier proves something: a waiter inherits no dependency. A promise of the value does
     * not count as kept: only the promising operation can keep the promise, by {@link #signal(long, Frontier)}.
     *
     * @param next the new value, above the current value
     * @throws IreeException INVALID_ARGUMENT when not above the current value; the failure of a failed timeline
     */
    public void signal(long next) {
        signal(next, Frontier.EMPTY);
    }

    /**
     * Advances the timeline and runs the timepoints that become due.
     *
     * @param next the new value, above the current value
     * @param frontier the frontier of the signalling operation. A tainted frontier without a producer shows the
     *     involvement of external code, as in {@link #signalExternal}
     * @throws IreeException INVALID_ARGUMENT when not above the current value; the failure of a failed timeline
     */
    public void signal(long next, Frontier frontier) {
        SemaphoreWaiter due = null;
        boolean accepted;
        boolean own = expect(frontier);
        lock();
        try {
            accepted = accepts(next);
            if (accepted && begin(next, frontier, own)) {
                due = publish(next);
            }
        } finally {
            unlock();
        }
        if (!accepted) {
            throw SemaphoreErrors.refusal(value(), next, failure);
        }
        SemaphoreWaiter.deliver(due, next, null);
    }

    /**
     * Advances the timeline on behalf of external code, and runs the timepoints that become due. The values are tainted until the next
     * internal signal.
     *
     * @param next the new value, above the current value
     * @throws IreeException INVALID_ARGUMENT when not above the current value; the failure of a failed timeline
     */
    public void signalExternal(long next) {
        signal(next, Frontier.UNKNOWN);
    }

    /**
     * Makes a value joint: reached by the last of several signals, not by the first. Promises of a joint value are not recorded;
     * the history before any of the signals belongs to the value.
     *
     * @param next the value, neither reached nor promised
     * @param signals the number of signals, at least 1
     * @throws IreeException INVALID_ARGUMENT when the value is reached or promised, or for less than one signal
     */
    public void expectSignals(long next, int signals) {
        if (signals < 1) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "semaphore value " + next + " cannot take " + signals + " signals");
        }
        if (!count(next, signals)) {
            throw SemaphoreErrors.tooLateToJoin(value(), next);
        }
    }

    /**
     * Counts another signaller of a value. The value is reached when all counted signallers have signalled. For queues
     * that accept work in advance.
     *
     * @param next the value, neither reached nor, unless {@link #expectSignals} counted on it, promised
     * @throws IreeException INVALID_ARGUMENT when the value is reached or promised
     */
    public void addSignaller(long next) {
        if (!count(next, 0)) {
            throw SemaphoreErrors.tooLateToJoin(value(), next);
        }
    }

    /** Counts {@code expected} signals, or another signaller if 0; false when the value is reached or promised already. */
    private boolean count(long next, int expected) {
        keepHistory(); // a brief history does not know the promised values
        lock();
        try {
            if (!acceptsSignaller(next)) {
                return false;
            }
            if (expected > 0) {
                joints().expect(next, expected);
            } else {
                countSignaller(next);
            }
            return true;
        } finally {
            unlock();
        }
    }

    /**
     * Drops the history above a value, because external code is involved after all. Promises stay.
     *
     * @param known the last value whose history remains known
     */
    public void taintAbove(long known) {
        lock();
        try {
            if (value > known) {
                taintedBy("what was known above %d was withdrawn".formatted(known), value);
            }
            dropKnowledgeAbove(known);
        } finally {
            unlock();
        }
    }

    private void taintedBy(String cause, long next) {
        TaintWindow open = taint;
        if (open == null) {
            taint = TaintWindow.open(id(), knownAcquire(), next, cause);
        } else {
            open.extend(next);
        }
    }

    private void recover() {
        TaintWindow open = taint;
        if (open != null) {
            open.recover();
            taint = null;
        }
    }

    /**
     * Returns a number that identifies this timeline within the process, for diagnostics.
     *
     * @return a number above 0, assigned on the first call
     */
    public long id() {
        if (id == 0) {
            synchronized (NEXT_ID) {
                if (id == 0) {
                    id = NEXT_ID.incrementAndGet();
                }
            }
        }
        return id;
    }

    /**
     * Names this timeline in reports.
     *
     * @param wanted a string for a given name; any other object for a name made up, whose text is requested on demand;
     *     must not change
     */
    public void setName(Object wanted) {
        name = Objects.requireNonNull(wanted, "wanted");
    }

    /**
     * Returns the name of this timeline.
     *
     * @return the text of the object given to {@link #setName}; empty for none
     */
    public String name() {
        return name.toString();
    }

    /**
     * Returns the name of this timeline if the name was given as a string. Builds no text, unlike {@link #name} for a name
     * made up by the runtime.
     *
     * @return the string given to {@link #setName}; empty for none, and for the text of another object
     */
    public String givenName() {
        return name instanceof String given ? given : "";
    }

    /**
     * Returns the last value with a known history; values reached above were signalled externally.
     *
     * @return at most {@link #value()}
     */
    public long watermark() {
        return knownAcquire();
    }

    /**
     * Fails the timeline permanently; ignored for a failed timeline.
     *
     * @param cause the cause, passed to every waiter
     */
    public void fail(IreeException cause) {
        Objects.requireNonNull(cause, "cause");
        SemaphoreWaiter due = null;
        long at;
        lock();
        try {
            at = value;
            if (failure == null) {
                due = publish(cause);
            }
        } finally {
            unlock();
        }
        SemaphoreWaiter.deliver(due, at, cause);
    }

    // ---- The steps of a change. A FenceEvent takes each step for all timelines of the fence before the next step.

    /** Before the lock is taken: prepares the history for a signal. Returns whether the signal comes from the only queue in use. */
    @SuppressWarnings("ReferenceEquality") // EMPTY is a single object
    boolean expect(Frontier frontier) {
        boolean own = isOwn(frontier);
        if (!own && frontier != Frontier.EMPTY) {
            keepHistory();
        }
        return own;
    }

    /** Under the lock: whether the value can be signalled. */
    boolean accepts(long next) {
        return failure == null && next > value && next <= MAXIMUM_VALUE;
    }

    /**
     * Under the lock: begins the signal of an accepted value. {@link #publish(long)} must follow; lookups wait until then.
     *
     * @return false, and nothing has begun, when further signals of the value are expected
     */
    @SuppressWarnings("ReferenceEquality") // a join is another object
    boolean begin(long next, Frontier frontier, boolean own) {
        Frontier before = frontier;
        JointPoints several = joints;
        if (several != null) {
            before = several.arrive(next, frontier);
            if (before == null) {
                return false;
            }
            several.forget(next);
        }
        if (before.isTainted() && !before.hasProducer()) {
            taintedBy("signalled from outside", next);
            beginSignalFromOutside(next);
        } else {
            recover();
            beginSignal(next, before, own && before == frontier);
        }
        return true;
    }

    /** Under the lock, with the history kept: returns whether a value takes another signaller. */
    boolean acceptsSignaller(long next) {
        return next > value && next <= MAXIMUM_VALUE && (failure != null || !isPromised(next));
    }

    /** Under the lock: counts another signaller of a value. */
    void countSignaller(long next) {
        joints().addSignaller(next);
    }

    private JointPoints joints() {
        JointPoints points = joints;
        if (points == null) {
            points = new JointPoints();
            joints = points;
        }
        return points;
    }

    /** Under the lock: hides value and failure until {@code publish} or the failure below. */
    void hide() {
        value = ~value;
    }

    /** Under the lock: completes {@link #begin}, and returns the waiters that become due. */
    @Nullable
    SemaphoreWaiter publish(long next) {
        value = next; // SEM-1
        endChange(); // SEM-5
        return takeWaiters(next);
    }

    /** Under the lock: fails a timeline that has not failed, and returns the waiters that become due. */
    @Nullable
    SemaphoreWaiter publish(IreeException cause) {
        failure = cause;
        if (value < 0) {
            value = ~value;
        }
        return takeWaiters(Long.MAX_VALUE);
    }

    /**
     * Calls back once the value is reached or the timeline fails: on this thread if either has happened already, otherwise on
     * the thread of the signal or failure.
     *
     * @param minimum the value waited for
     * @param timepoint the callback
     * @return cancels the callback
     */
    public Cancellation whenReached(long minimum, Timepoint timepoint) {
        long at = value();
        if (at >= minimum && failure == null) {
            Callbacks.call(timepoint, at);
            return Cancellation.OVER;
        }
        SemaphoreWaiter waiter = new SemaphoreWaiter(this, minimum, timepoint, false);
        if (!register(waiter)) {
            Callbacks.run(waiter);
        }
        return waiter;
    }

    /**
     * Calls back once {@link #lookup} finds a value, promised or reached, or the timeline fails: on this thread if either has happened
     * already, otherwise on the thread of the promise, signal or failure. For schedulers, since a device may wait for a
     * promise.
     *
     * @param minimum the value waited for
     * @param timepoint the callback, with the value promised or reached
     * @return cancels the callback
     */
    public Cancellation whenPromised(long minimum, Timepoint timepoint) {
        SemaphoreWaiter waiter = new SemaphoreWaiter(this, minimum, timepoint, true);
        if (!register(waiter)) {
            Callbacks.run(waiter);
        }
        return waiter;
    }

    /** Links a waiter; for a known outcome, sets the outcome and returns false. */
    private boolean register(SemaphoreWaiter waiter) {
        lock();
        try {
            waiter.reachedValue = value;
            waiter.failure = failure;
            if (waiter.failure != null || (waiter.forPromise ? isKnown(waiter.minimum) : value >= waiter.minimum)) {
                return false;
            }
            if (isLive()) {
                SemaphoreWaiters all = waiters;
                if (all == null) {
                    all = new SemaphoreWaiters();
                    waiters = all;
                }
                all.add(waiter); // SEM-3
                return true;
            }
        } finally {
            unlock();
        }
        waiter.failure = SemaphoreErrors.abandoned(waiter.minimum);
        return false;
    }

    /**
     * Blocks until the value is reached. A waiting virtual thread occupies no carrier.
     *
     * @param minimum the value waited for
     * @throws IreeException the timeline's failure; CANCELLED when interrupted (the thread stays interrupted)
     */
    public void await(long minimum) {
        await(minimum, WaitTime.FOREVER);
    }

    /**
     * Blocks until the value is reached or time runs out. A waiting virtual thread occupies no carrier.
     *
     * @param minimum the value waited for
     * @param timeout the longest wait; zero only checks
     * @throws IreeException DEADLINE_EXCEEDED; the timeline's failure; CANCELLED when interrupted (the thread stays interrupted)
     */
    public void await(long minimum, Duration timeout) {
        await(minimum, WaitTime.nanos(timeout));
    }

    /** Waits for at most the given nanoseconds. */
    void await(long minimum, long timeoutNanos) {
        if (isReached(minimum)) {
            return;
        }
        Callbacks.help();
        WaitHelper worker = options.helper();
        long left = timeoutNanos;
        if (worker != null && timeoutNanos > 0) {
            left = HelpedWait.help(this, minimum, timeoutNanos, worker);
            if (left < 0) {
                return;
            }
        }
        ParkedThread waiter = new ParkedThread(this, minimum);
        if (register(waiter)) {
            waiter.park(left);
        }
        if (waiter.failure != null) {
            throw SemaphoreErrors.rethrown(waiter.failure);
        }
    }

    @Override
    protected String describe() {
        return "semaphore at " + value();
    }

    @Override
    protected void destroy() {
        SemaphoreWaiter due;
        long at;
        lock();
        try {
            at = value;
            due = takeWaiters(Long.MAX_VALUE);
        } finally {
            unlock();
        }
        if (due != null) {
            SemaphoreWaiter.deliver(due, at, SemaphoreErrors.abandoned(due.minimum));
        }
    }

    /** Whether any waiter, for a value or a promise, is registered. */
    boolean isAwaited() {
        lock();
        try {
            return waiters != null && !waiters.isEmpty();
        } finally {
            unlock();
        }
    }

    /** Unlinks a waiter; returns false for an unlinked waiter. */
    boolean cancel(SemaphoreWaiter waiter) {
        lock();
        try {
            return SemaphoreWaiters.remove(waiter);
        } finally {
            unlock();
        }
    }
}
