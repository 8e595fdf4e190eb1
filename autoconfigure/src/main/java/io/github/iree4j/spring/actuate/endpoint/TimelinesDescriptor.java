package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.PendingCall;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.PendingOperation;
import java.time.Duration;
import java.util.List;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * Why nothing moves: what waits, and for what.
 *
 * @param waiting how many operations wait, of which the longest waiting are listed
 * @param operations operations that are held back
 * @param activeCalls how many calls are under way; of those that wait, the longest under way are listed
 * @param calls calls that wait, and asynchronous ones that run
 * @param timelines timelines that the application holds
 */
public record TimelinesDescriptor(
        long waiting, List<Operation> operations, int activeCalls, List<Call> calls, List<Timeline> timelines)
        implements OperationResponseBody {

    /** How many operations of a queue, and how many calls, are listed at most. */
    static final int LISTED = 50;

    /**
     * An operation that is held back.
     *
     * @param queue device and number of its queue
     * @param operation what kind of operation
     * @param since how long it has been waiting
     * @param waitsFor in words, one for each point that was not reached
     */
    public record Operation(String queue, String operation, Duration since, List<String> waitsFor) {}

    /**
     * A call that is under way.
     *
     * @param program the name under which its program is configured
     * @param function the function with the name of its module
     * @param state where it is
     * @param since how long it has been under way; for one whose thread waits, how long that has waited
     * @param waitsFor in words, one for each point that was not reached; empty when it runs
     */
    public record Call(
            String program, String function, PendingCall.State state, Duration since, List<String> waitsFor) {}

    /**
     * A timeline that the application holds.
     *
     * @param timeline its number
     * @param value how far it is
     * @param failure what it failed with; empty when it has not
     */
    public record Timeline(long timeline, long value, String failure) {}

    static Operation operation(DeviceQueue queue, PendingOperation operation, AxisNames names) {
        return new Operation(
                names.name(queue.axis()),
                operation.name(),
                operation.since(),
                operation.forMemory()
                        ? List.of("memory that others have, see 'pools'")
                        : operation.waits().stream()
                                .map(wait -> describe(wait, names))
                                .toList());
    }

    static Call call(String program, PendingCall call, AxisNames names) {
        return new Call(program, call.function(), call.state(), call.since(), waitsFor(call, names));
    }

    private static List<String> waitsFor(PendingCall call, AxisNames names) {
        if (!call.waits().isEmpty()) {
            return call.waits().stream().map(wait -> describe(wait, names)).toList();
        }
        return switch (call.state()) {
            case IN_LINE -> List.of("its turn, which another call of the program has");
            case SUSPENDED -> List.of("no point of a timeline: for a function written in Java, or not any more");
            case BEFORE_INPUTS, BEFORE_RESULTS -> List.of("not any more");
            case RUNNING -> List.of();
        };
    }

    private static String describe(PendingOperation.Wait wait, AxisNames names) {
        String point =
                "timeline %d to reach %d, it is at %d; ".formatted(wait.semaphore(), wait.value(), wait.reached());
        if (!wait.promised()) {
            return point + "nothing that was submitted and can run signals it";
        }
        return wait.producerEpoch() == 0
                ? point + "somebody outside has promised it"
                : point
                        + "operation %d of queue %s does, which is at %d"
                                .formatted(
                                        wait.producerEpoch(),
                                        names.name(wait.producerAxis()),
                                        names.completed(wait.producerAxis()));
    }
}
