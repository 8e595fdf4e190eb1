package io.github.iree4j.spring;

import io.github.iree4j.api.NotForApplications;
import java.util.List;

/** The operators' view of the calls made through an {@link InvocationService}. Thread-safe. */
@NotForApplications
public final class CallMonitor {

    private final Programs programs;
    private final CallsInFlight inFlight;

    CallMonitor(Programs programs, CallsInFlight inFlight) {
        this.programs = programs;
        this.inFlight = inFlight;
    }

    /**
     * Cancels all calls in flight on all programs, because the application stops, as the texts of the failures say. A
     * thread waiting in a call receives CANCELLED, and is not interrupted afterwards.
     *
     * @return the number of cancelled calls
     */
    public int cancelCalls() {
        int cancelled = programs.cancelCalls(CallsInFlight.STOPS);
        inFlight.cancel(); // a thread that copies inputs, for example, has a call that the program does not list yet
        return cancelled;
    }

    /**
     * Returns the number of ended calls, as an indicator of progress.
     *
     * @return the number of ended calls
     */
    public long endedCalls() {
        return inFlight.ended();
    }

    /**
     * Returns the largest number of calls in flight at once since the last call of this method, for a single reader.
     *
     * @return at least the number in flight now
     */
    public int takeMostInFlight() {
        return inFlight.takeMost();
    }

    /**
     * Returns whether calls are in flight, all past their deadlines.
     *
     * @return false while any call has time left or no deadline
     */
    public boolean areCallsLate() {
        return inFlight.areLate();
    }

    /**
     * Returns whether calls of a function with a deadline are in flight.
     *
     * @param program the program's name
     * @param function the function with the name of the module
     * @return false when no such call has a deadline
     */
    public boolean haveCallsDeadline(String program, String function) {
        return inFlight.haveDeadline(program, function);
    }

    /**
     * Returns the traces of calls in flight.
     *
     * @param program the program's name
     * @param function the function with the name of the module
     * @return the trace ids, oldest calls first; empty without tracing
     */
    public List<String> traces(String program, String function) {
        return inFlight.traces(program, function);
    }
}
