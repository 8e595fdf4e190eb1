package io.github.iree4j.monitor;

import io.github.iree4j.hal.PendingOperation;
import java.time.Duration;
import java.util.List;

/**
 * A call in progress, with the points awaited by the call. See {@link ProgramMonitor#pendingCalls}.
 *
 * @param function the function's {@linkplain io.github.iree4j.ProgramFunction#fullName full name}, for example {@code digits.add}
 * @param state the call's state
 * @param since the time since the call began
 * @param waits points of timelines not reached at the time of the snapshot; empty when the call waits for no point
 * @param signals points that the call, or work of the call, is to signal; empty when there is no fence to signal
 * @param id the call's number in this process, above 0: the same in each description, in recordings, and for
 *     {@link ProgramMonitor#cancelCall(long)}
 * @param unchanged the time since the call began to wait or to run as now
 * @param bytes bytes of memory awaited in the states {@link State#FOR_ADMISSION} and {@link State#FOR_MEMORY}: the
 *     inputs of the call, or the expected need, which may be a guess; 0 in other states, and when not known
 */
public record PendingCall(
        String function,
        State state,
        Duration since,
        List<PendingOperation.Wait> waits,
        List<PendingOperation.Point> signals,
        long id,
        Duration unchanged,
        long bytes) {
    /** Copies. */
    public PendingCall {
        waits = List.copyOf(waits);
        signals = List.copyOf(signals);
    }

    /** The state of a call. */
    public enum State {
        /** The call has not begun, and waits for its inputs. */
        BEFORE_INPUTS,
        /**
         * The call has not begun, and waits to be admitted, since the need of the call for memory is not known before a
         * similar call has succeeded: a ready call until no other call runs, for a second at most after the last such
         * call was admitted; a call whose inputs are not there at most until the points in the call's waits are reached.
         */
        FOR_ADMISSION,
        /** The call has not begun, and waits for memory to become free. */
        FOR_MEMORY,
        /** The call waits for its turn in the program. */
        IN_LINE,
        /** The program runs. */
        RUNNING,
        /** The program waits: for fences, or for an uncompleted function written in Java. */
        SUSPENDED,
        /** The program has returned, and submitted work is not complete; or the call has ended, and still has to signal its fence. */
        BEFORE_RESULTS
    }
}
