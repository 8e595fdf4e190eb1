package io.github.iree4j.spring.problems;

import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.spring.InvocationService;
import io.github.iree4j.status.DurationText;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The operations and calls of a look at a runtime, in words. Operations have the first numbers, calls the next. Confined
 * to one thread.
 *
 * @param operations the pending operations
 * @param calls the calls in flight
 * @param names names queues
 * @param signallers knows the signallers of awaited points
 * @param invocations knows the traces of calls; null for none
 */
record WaitingWork(
        List<Signallers.Submitted> operations,
        List<ActiveCall> calls,
        QueueNames names,
        Signallers signallers,
        @Nullable InvocationService invocations) {

    private boolean isOperation(int work) {
        return work < operations.size();
    }

    private PendingOperation operation(int work) {
        return operations.get(work).operation();
    }

    private ActiveCall call(int work) {
        return calls.get(work - operations.size());
    }

    Duration age(int work) {
        return isOperation(work) ? operation(work).since() : call(work).call().unchanged();
    }

    /** Returns the points awaited by work. */
    List<PendingOperation.Wait> waits(int work) {
        return isOperation(work) ? operation(work).waits() : call(work).call().waits();
    }

    /** Names work. */
    String title(int work) {
        if (isOperation(work)) {
            PendingOperation operation = operation(work);
            return operation.name() + " on " + queue(work)
                    + (operation.function().isEmpty()
                            ? ""
                            : " by %s of program '%s'".formatted(operation.function(), operation.program()));
        }
        return call(work).title();
    }

    /** Describes work, with the awaited work. */
    String line(int work) {
        if (isOperation(work)) {
            PendingOperation operation = operation(work);
            return operation.name() + " on queue " + queue(work)
                    + (operation.function().isEmpty()
                            ? ""
                            : ", of call of '%s' of program '%s',".formatted(operation.function(), operation.program()))
                    + " has waited " + DurationText.rounded(operation.since())
                    + waits(names.waitsOf(operation, signallers));
        }
        ActiveCall call = call(work);
        List<String> traces = invocations == null
                ? List.of()
                : invocations.monitor().traces(call.program(), call.call().function());
        return subject(call)
                + " (id " + call.call().id() + (traces.isEmpty() ? "" : ", trace " + traces.getFirst()) + ")"
                + " is " + call.call().state() + " for "
                + DurationText.rounded(call.call().unchanged())
                + waits(names.waitsOf(call.call(), signallers));
    }

    private String queue(int work) {
        return names.name(operations.get(work).queue().axis());
    }

    private static String waits(List<String> waits) {
        return waits.isEmpty() ? "" : ", for " + String.join(", and ", waits);
    }

    /** Names the function of a call. */
    static String subject(ActiveCall call) {
        return "call of '%s' of program '%s'".formatted(call.call().function(), call.program());
    }
}
