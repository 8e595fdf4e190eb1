package io.github.iree4j.task;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The part of a process recording the process's place and number of drainers.
 *
 * <p>A single word holds both, so every decision is a single compare-and-set: a thread that schedules, enters or leaves
 * either sees the changes of other threads or is seen by them. IREE keeps five variables and closes the gaps between
 * the variables individually.
 */
abstract class ProcessSchedule extends ProcessPads.BeforeSchedule {
    /*
     *   28        27        26       25..24  23..16  15..0
     *   RELEASED  TERMINAL  PENDING  PLACE   SLOT    DRAINERS
     *
     * PLACE     NOWHERE: not yet scheduled, asleep, or ended. QUEUED: on the immediate list or waiting for a slot, or
     *           being put there by the thread that set QUEUED. SLOTTED: in compute slot SLOT, open to any number of
     *           drainers. OWNED: exclusive to one drainer.
     * DRAINERS  of a slotted process. A drainer adds itself and checks the previous word: unless the word was SLOTTED
     *           and not TERMINAL, the drainer leaves again at once, and only takes the decisions required of the last
     *           drainer. TASK-6
     * PENDING   scheduled since: the process is drained once more before it sleeps. Also set by drainers that leave
     *           before others and know of more work. Cleared only by the last drainer to leave, or by a new owner.
     *           TASK-7
     * TERMINAL  set once by the drainer that ends the process; no drainer enters any more. TASK-8
     * RELEASED  the last drainer has left a terminal process. Set once, with DRAINERS at 0. TASK-9
     *
     * A sleeping process is NOWHERE without PENDING: the drainer puts the process to sleep by compare-and-set, so an
     * earlier schedule has set PENDING in the expected word, and a later schedule finds NOWHERE.
     */
    static final long DRAINERS = 0xffff;
    private static final int SLOT_SHIFT = 16;
    private static final long SLOT = 0xffL << SLOT_SHIFT;
    private static final long PLACE = 3L << 24;
    static final long NOWHERE = 0;
    static final long QUEUED = 1L << 24;
    static final long SLOTTED = 2L << 24;
    static final long OWNED = 3L << 24;
    static final long PENDING = 1L << 26;
    static final long TERMINAL = 1L << 27;
    static final long RELEASED = 1L << 28;

    /** The next step for the caller of {@link #request}. */
    enum Request {
        /** Nothing: the process has ended, or its drainers drain it again. */
        NONE,
        /** Put the process on the list or in a slot. */
        PLACE,
        /** Wake workers: the process is in a slot. */
        SIGNAL
    }

    /** The next step for a drainer after leaving a slotted process. */
    enum Left {
        /** Nothing: other drainers remain, or the process left the slot before this drainer entered. */
        QUIETLY,
        /** The process stays in its slot to be drained again: drain it, or make sure that another worker does. */
        AWAKE,
        /** The process sleeps: empty its slot. */
        ASLEEP,
        /** The process has ended and has no drainers: empty its slot and release it. */
        RELEASED
    }

    private static final VarHandle WORD;
    private static final VarHandle BUDGET;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            WORD = lookup.findVarHandle(ProcessSchedule.class, "word", long.class);
            BUDGET = lookup.findVarHandle(ProcessSchedule.class, "budget", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // only through WORD
    private long word;

    @SuppressWarnings("unused") // only through BUDGET
    private long budget; // written by drainers, like the word

    ProcessSchedule(ProcessOptions options) {
        super(options);
        budget = options.wakeBudget();
    }

    static long place(long word) {
        return word & PLACE;
    }

    static int slot(long word) {
        return (int) ((word & SLOT) >>> SLOT_SHIFT);
    }

    final long wordVolatile() {
        return (long) WORD.getVolatile(this);
    }

    final int budgetOpaque() {
        return (int) (long) BUDGET.getOpaque(this);
    }

    /** Returns the previous budget. */
    final int exchangeBudget(int workers) {
        return (int) (long) BUDGET.getAndSet(this, (long) workers);
    }

    /** Requests a drain that begins after this call. */
    final Request request() { // TASK-7
        for (; ; ) {
            long seen = wordVolatile();
            if ((seen & TERMINAL) != 0) {
                return Request.NONE;
            }
            if (place(seen) == NOWHERE) {
                if (WORD.compareAndSet(this, seen, seen | QUEUED)) {
                    return Request.PLACE;
                }
            } else if (WORD.compareAndSet(
                    this, seen, seen | PENDING)) { // even if set already: publishes earlier writes to the drain
                return place(seen) == SLOTTED ? Request.SIGNAL : Request.NONE;
            }
        }
    }

    /** Moves from QUEUED to SLOTTED; called by the thread that reserved the slot. */
    final void putInSlot(int slot) {
        move(QUEUED, SLOTTED | (long) slot << SLOT_SHIFT);
    }

    /** Moves from QUEUED to OWNED; called by the thread that took the process off the list. */
    final void own() {
        move(QUEUED, OWNED);
    }

    /** Moves from OWNED to QUEUED; called by the owner, which then puts the process at the end of the list. */
    final void disown() {
        move(OWNED, QUEUED);
    }

    /** Changes the place and clears PENDING: a drain follows. */
    private void move(long from, long to) {
        for (; ; ) {
            long seen = wordVolatile();
            assert place(seen) == from : this + " is not where it should be: " + Long.toHexString(seen);
            if (WORD.compareAndSet(this, seen, seen & ~(PLACE | SLOT | PENDING) | to)) {
                return;
            }
        }
    }

    /** Moves from OWNED to NOWHERE. Returns false when the process was scheduled meanwhile: the process stays owned and must be drained again. */
    final boolean ownedSleeps() { // TASK-7
        for (; ; ) {
            long seen = wordVolatile();
            boolean pending = (seen & PENDING) != 0;
            if (WORD.compareAndSet(this, seen, seen & ~(pending ? PENDING : PLACE))) {
                return !pending;
            }
        }
    }

    /** Moves from OWNED to released: there are no other drainers. */
    final void ownedReleased() {
        for (; ; ) {
            long seen = wordVolatile();
            if (WORD.compareAndSet(this, seen, seen & ~(PLACE | PENDING) | TERMINAL | RELEASED)) { // TASK-9
                return;
            }
        }
    }

    /**
     * Adds the caller to the drainers. Unless {@link #mayDrain} accepts the result, the caller must {@link #leave} at
     * once, with {@code again} set.
     */
    final long enter() { // TASK-6
        return (long) WORD.getAndAdd(this, 1L);
    }

    static boolean mayDrain(long entered) {
        return place(entered) == SLOTTED && (entered & TERMINAL) == 0;
    }

    /** Returns whether entering is worth trying. */
    final boolean isOpenAcquire() {
        return mayDrain((long) WORD.getAcquire(this));
    }

    /**
     * Removes the caller from the drainers; returns the previous word, for {@link #left} and {@link #slot}.
     *
     * @param again whether there may be more to do
     */
    final long leave(boolean again) {
        for (; ; ) {
            long seen = wordVolatile();
            long next = seen - 1;
            switch (left(seen, again)) {
                case QUIETLY -> next = again && place(seen) == SLOTTED ? next | PENDING : next; // TASK-7
                case AWAKE -> next = again ? next : next & ~PENDING;
                case ASLEEP -> next &= ~(PLACE | SLOT);
                case RELEASED -> next = next & ~(PLACE | SLOT | PENDING) | RELEASED; // TASK-9
            }
            if (WORD.compareAndSet(this, seen, next)) {
                return seen;
            }
        }
    }

    static Left left(long seen, boolean again) {
        if ((seen & DRAINERS) != 1 || place(seen) != SLOTTED) { // not the last drainer, or entered too late to decide
            return Left.QUIETLY;
        }
        if ((seen & TERMINAL) != 0) {
            return Left.RELEASED;
        }
        return again || (seen & PENDING) != 0 ? Left.AWAKE : Left.ASLEEP;
    }

    /** Ends the process. Returns true to a single caller, which must complete the process. */
    final boolean setTerminal() { // TASK-8
        return ((long) WORD.getAndBitwiseOr(this, TERMINAL) & TERMINAL) == 0;
    }

    /** Ends and releases a process that is NOWHERE; false for a placed or ended process. */
    final boolean releaseUnplaced() {
        for (; ; ) {
            long seen = wordVolatile();
            if (place(seen) != NOWHERE || (seen & TERMINAL) != 0) {
                return false;
            }
            if (WORD.compareAndSet(this, seen, seen | TERMINAL | RELEASED)) { // TASK-9
                return true;
            }
        }
    }

    /** Returns whether the process will have no more drainers; the executor may still hold the process. */
    final boolean isLeftForGood() {
        return (wordVolatile() & RELEASED) != 0;
    }
}
