package io.github.iree4j.spring.problems;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.monitor.PendingCall;
import io.github.iree4j.spring.Programs;
import java.util.ArrayList;
import java.util.List;

/**
 * A call in flight.
 *
 * @param program the configured name of the program
 * @param instance the program
 * @param call the call
 */
@NotForApplications
public record ActiveCall(String program, Program instance, PendingCall call) implements Signaller {

    /** The maximum number of examined calls of a program; the cost is in proportion to the number. */
    static final int MOST = 1 << 17;

    /** Returns the calls in flight, of all programs. */
    static List<ActiveCall> all(IreeRuntime runtime, Programs programs) {
        List<ActiveCall> calls = new ArrayList<>();
        for (Program program : runtime.programs()) {
            for (PendingCall call : program.monitor().pendingCalls(MOST)) {
                calls.add(new ActiveCall(programs.nameOf(program), program, call));
            }
        }
        return calls;
    }

    @Override
    public List<PendingOperation.Wait> waits() {
        return call.waits();
    }

    @Override
    public List<PendingOperation.Point> signals() {
        return call.signals();
    }

    /** Returns the call in words, for example {@code call 7 of sums.add of program 'sums'}. */
    String title() {
        return "call %d of %s of program '%s'".formatted(call.id(), call.function(), program);
    }
}
