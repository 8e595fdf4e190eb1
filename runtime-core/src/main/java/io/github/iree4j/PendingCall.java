package io.github.iree4j;

import io.github.iree4j.call.CallState;
import io.github.iree4j.hal.PendingOperation;
import java.time.Duration;
import java.util.List;

/**
 * A call in progress, and what it waits for. See {@link Program#pendingCalls}.
 *
 * @param function its full name, for example {@code module.add}
 * @param state its state
 * @param since how long it has been in progress
 * @param waits points of timelines that were not reached at the time of the snapshot; empty when it waits for none
 * @param id the call's number in this process, above 0: the same in each description, in recordings, and for {@link Program#cancelCall}
 * @param unchanged how long it has been in this state
 */
public record PendingCall(
        String function, State state, Duration since, List<PendingOperation.Wait> waits, long id, Duration unchanged) {
    static PendingCall of(
            String function,
            CallState state,
            Duration since,
            List<PendingOperation.Wait> waits,
            long id,
            Duration unchanged) {
        State at = switch (state) {
            case BEFORE_INPUTS -> State.BEFORE_INPUTS;
            case FOR_MEMORY -> State.FOR_MEMORY;
            case IN_LINE -> State.IN_LINE;
            case RUNNING -> State.RUNNING;
            case SUSPENDED -> State.SUSPENDED;
            case BEFORE_RESULTS -> State.BEFORE_RESULTS;
        };
        return new PendingCall(function, at, since, waits, id, unchanged);
    }

    /** Copies. */
    public PendingCall {
        waits = List.copyOf(waits);
    }

    /** The state of a call. */
    public enum State {
        /** It has not begun, and waits until its inputs are ready. */
        BEFORE_INPUTS,
        /** It has not begun, and waits until the memory that it will need is free. */
        FOR_MEMORY,
        /** It waits for its turn in its program. */
        IN_LINE,
        /** Its program runs. */
        RUNNING,
        /** Its program waits: for fences, or for a function written in Java that has not completed. */
        SUSPENDED,
        /** Its program has returned, and work that it submitted is not complete. */
        BEFORE_RESULTS
    }
}
