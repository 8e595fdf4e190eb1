package io.github.iree4j;

import io.github.iree4j.call.CallState;
import io.github.iree4j.hal.PendingOperation;
import java.time.Duration;
import java.util.List;

/**
 * A call in progress, with the points awaited by the call. See {@link Program#pendingCalls}.
 *
 * @param function the function's {@linkplain ProgramFunction#fullName full name}, for example {@code digits.add}
 * @param state the call's state
 * @param since the time since the call began
 * @param waits points of timelines not reached at the time of the snapshot; empty when the call waits for no point
 * @param id the call's number in this process, above 0: the same in each description, in recordings, and for
 *     {@link Program#cancelCall}
 * @param unchanged the time since the call entered this state
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
        /** The call has not begun, and waits for its inputs. */
        BEFORE_INPUTS,
        /** The call has not begun, and waits for memory to become free. */
        FOR_MEMORY,
        /** The call waits for its turn in the program. */
        IN_LINE,
        /** The program runs. */
        RUNNING,
        /** The program waits: for fences, or for an uncompleted function written in Java. */
        SUSPENDED,
        /** The program has returned, and submitted work is not complete. */
        BEFORE_RESULTS
    }
}
