package io.github.iree4j.call;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.monitor.PendingCall;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The state of a call, with the fences or the memory awaited, and the time of the last change: the same for a call
 * driven by the caller's thread and for a call driven by workers. Read by any thread; changed by the thread that acts
 * for the call.
 */
class CallState {
    /** A state, and the {@linkplain #precedes legal} next states. A call that is settled is in no list, whatever its state. */
    enum State {
        /** Held: waits for the fence at which the inputs are ready. */
        BEFORE_INPUTS(PendingCall.State.BEFORE_INPUTS),
        /** Held: in line for memory, or behind earlier calls; whoever looks asks for which. */
        FOR_MEMORY(PendingCall.State.FOR_MEMORY),
        /** Held: may hold memory, and is made soon, behind the calls admitted before. */
        ADMITTED(PendingCall.State.IN_LINE),
        /** A thread makes the call: the inputs come to the device. The first state. */
        MAKING(PendingCall.State.IN_LINE),
        /** The same, but memory for the inputs is missing. */
        SHORT(PendingCall.State.FOR_MEMORY),
        /** Made: the inputs are on the device, and the call waits for its turn. */
        IN_LINE(PendingCall.State.IN_LINE),
        /** Made: the code runs, in turn. */
        RUNNING(PendingCall.State.RUNNING),
        /** Made: the code waits; still in turn unless calls overlap. */
        SUSPENDED(PendingCall.State.SUSPENDED),
        /** Made, and the code is over; but the work, or the fence to be signalled, is not. */
        RETURNED(PendingCall.State.BEFORE_RESULTS),
        /** Over without having been made; but the fence to be signalled is not. */
        ENDED(PendingCall.State.BEFORE_RESULTS);

        /** The state as shown to operators. */
        final PendingCall.State shown;

        private final Place alone = new Place(this, List.of());

        State(PendingCall.State shown) {
            this.shown = shown;
        }

        private boolean precedes(State other) {
            Set<State> next = switch (this) {
                case BEFORE_INPUTS -> EnumSet.of(FOR_MEMORY, ADMITTED, ENDED);
                case FOR_MEMORY -> EnumSet.of(FOR_MEMORY, ADMITTED, MAKING, ENDED);
                case ADMITTED -> EnumSet.of(MAKING, ENDED);
                case MAKING -> EnumSet.of(BEFORE_INPUTS, FOR_MEMORY, SHORT, IN_LINE, RUNNING, ENDED);
                case SHORT -> EnumSet.of(SHORT, MAKING, IN_LINE, ENDED);
                case IN_LINE -> EnumSet.of(RUNNING, RETURNED);
                case RUNNING -> EnumSet.of(SUSPENDED, RETURNED);
                case SUSPENDED -> EnumSet.of(IN_LINE, RUNNING);
                case RETURNED, ENDED -> EnumSet.of(this);
            };
            return next.contains(other);
        }

        private boolean isHeld() {
            return compareTo(ADMITTED) <= 0;
        }

        private boolean isMade() {
            return compareTo(IN_LINE) >= 0 && this != ENDED;
        }
    }

    /*
     * One word, 'place', replaced as a whole; null for the first state, so that a blocking call begins without a write.
     *
     * CALL-1: from a held state the call is made or ended: one thread takes the word to MAKING or ENDED. Every other
     * change is made by the thread that makes or runs the call, which may give the call to another such thread, or back
     * to a held state.
     */

    /** A state, with what is awaited. The awaited fences are only read, because the fences may be closed by then. */
    record Place(State state, List<Fence> awaited, Supplier<MemoryWait> memory) {
        Place(State state, List<Fence> awaited) {
            this(state, awaited, () -> MemoryWait.NONE);
        }

        List<PendingOperation.Wait> waits() {
            return awaited.stream()
                    .flatMap(fence -> PendingOperation.waitsFor(fence).stream())
                    .toList();
        }
    }

    private static final VarHandle PLACE;

    static {
        try {
            PLACE = MethodHandles.lookup().findVarHandle(CallState.class, "place", Place.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile @Nullable Place place;
    private volatile long changed; // 0 before the first change
    private long since; // published by the list, or as the call in turn; 0 before the clock is started

    /** The state at this moment. */
    final Place place() {
        Place now = place;
        return now == null ? State.MAKING.alone : now;
    }

    /** When the call began; 0 before the clock is started. */
    final long since() {
        return since;
    }

    /** When the state was entered. */
    final long changed() {
        return changed == 0 ? since : changed;
    }

    /** Whether the call waits for its turn, according to the state. */
    final boolean isInLine() {
        return place().state.shown == PendingCall.State.IN_LINE;
    }

    /** Whether the inputs are, or were, on the device. */
    final boolean isMade() {
        return place().state.isMade();
    }

    /** Whether the call can still be ended without being made. */
    final boolean isHeld() {
        return place().state.isHeld();
    }

    // Changes.

    /** Starts the clock of the call unless already started. Called before the call is added to the list. */
    final void startClock() {
        if (since == 0) {
            since = System.nanoTime();
        }
    }

    private void become(Place next) {
        assert place().state.precedes(next.state) : place() + " becomes " + next;
        startClock();
        changed = System.nanoTime();
        place = next;
    }

    /** Enters a state in which no fence is awaited. */
    final void become(State next) {
        become(next.alone);
    }

    /** Enters a state until the fences are reached. */
    final void become(State next, List<Fence> awaited) {
        become(new Place(next, awaited));
    }

    /**
     * Enters a state with a wait for memory, of which only those who look at the call ask for the description.
     *
     * @param ahead the fence to be reached before the call's work can begin; null for none
     */
    final void become(State next, @Nullable Fence ahead, Supplier<MemoryWait> memory) {
        become(new Place(next, ahead == null ? List.of() : List.of(ahead), memory));
    }

    /** Takes a held call to another state; false when the call is not, or no longer, held. Takes no lock. */
    final boolean takeHeld(State next) {
        while (true) {
            Place now = place();
            if (!now.state.isHeld()) {
                return false;
            }
            assert now.state.precedes(next) : now + " becomes " + next;
            changed = System.nanoTime();
            if (PLACE.compareAndSet(this, now, next.alone)) {
                return true;
            }
        }
    }

    /** A thread begins, or goes on, to make a held call; false when the call was ended. */
    final boolean makeHeld() {
        State now = place().state;
        return now == State.MAKING || now == State.SHORT || takeHeld(State.MAKING);
    }

    /** The code runs on the thread of a blocking call; published as the call in turn. */
    final void runHere() {
        assert place().state.precedes(State.RUNNING) : place();
        startClock();
        PLACE.setRelease(this, State.RUNNING.alone);
    }

    /** The call is over, and still has to signal its fence. */
    final void endBeforeSignal() {
        become(isMade() ? State.RETURNED : State.ENDED);
    }
}
