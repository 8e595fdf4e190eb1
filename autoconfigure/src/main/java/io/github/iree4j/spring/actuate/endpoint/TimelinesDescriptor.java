package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.PendingCall;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.PendingOperation;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * Pending work and what it waits for; shows why nothing makes progress.
 *
 * @param waiting number of pending operations, of which the oldest are listed
 * @param operations the deferred operations
 * @param activeCalls number of calls in flight; of those that wait, the oldest are listed
 * @param calls waiting calls, and asynchronous calls that run
 * @param timelines the timelines that the application holds
 */
public record TimelinesDescriptor(
        long waiting, List<Operation> operations, int activeCalls, List<Call> calls, List<Timeline> timelines)
        implements OperationResponseBody {

    /** The maximum number of listed operations per queue, and of listed calls. */
    static final int LISTED = 50;

    /**
     * A deferred operation.
     *
     * @param queue device and number of its queue
     * @param operation the kind of operation
     * @param since how long it has been waiting
     * @param waitsFor one description for each point that is not reached
     * @param waits the same points, for programs
     */
    public record Operation(String queue, String operation, Duration since, List<String> waitsFor, List<Wait> waits) {}

    /**
     * A point of a timeline that is not reached.
     *
     * @param timeline id of the timeline
     * @param value the awaited value
     * @param reached its current value
     * @param promised whether a signal of the value has been promised
     * @param producer device and number of the queue that signals it; null when it is not known
     * @param epoch number of the operation of that queue; 0 when it is not known
     */
    public record Wait(
            long timeline,
            long value,
            long reached,
            boolean promised,
            @Nullable String producer,
            long epoch) {
        static Wait of(PendingOperation.Wait wait, AxisNames names) {
            return new Wait(
                    wait.semaphore(),
                    wait.value(),
                    wait.reached(),
                    wait.promised(),
                    wait.producerEpoch() == 0 ? null : names.name(wait.producerAxis()),
                    wait.producerEpoch());
        }
    }

    /**
     * A call in flight.
     *
     * @param program the name under which its program is configured
     * @param function the function with the name of its module
     * @param state its state
     * @param since its age; for a call whose thread waits, how long that thread has waited
     * @param waitsFor one description for each point that is not reached; empty when it runs
     * @param waits the same points, for programs
     */
    public record Call(
            String program,
            String function,
            PendingCall.State state,
            Duration since,
            List<String> waitsFor,
            List<Wait> waits) {}

    /**
     * A timeline that the application holds.
     *
     * @param timeline its id
     * @param value its current value
     * @param failure what it failed with; empty when it has not failed
     */
    public record Timeline(long timeline, long value, String failure) {}

    static Operation operation(DeviceQueue queue, PendingOperation operation, AxisNames names) {
        return new Operation(
                names.name(queue.axis()),
                operation.name(),
                operation.since(),
                operation.forMemory()
                        ? List.of("memory held by other work, see 'pools'")
                        : operation.waits().stream()
                                .map(wait -> describe(wait, names))
                                .toList(),
                waits(operation.waits(), names));
    }

    static Call call(String program, PendingCall call, AxisNames names) {
        return new Call(
                program,
                call.function(),
                call.state(),
                call.since(),
                waitsFor(call, names),
                waits(call.waits(), names));
    }

    private static List<Wait> waits(List<PendingOperation.Wait> waits, AxisNames names) {
        return waits.stream().map(wait -> Wait.of(wait, names)).toList();
    }

    private static List<String> waitsFor(PendingCall call, AxisNames names) {
        if (!call.waits().isEmpty()) {
            return call.waits().stream().map(wait -> describe(wait, names)).toList();
        }
        return switch (call.state()) {
            case IN_LINE -> List.of("its turn; another call of the program is running");
            case SUSPENDED -> List.of("no timeline point: waits for a function written in Java, or is about to resume");
            case BEFORE_INPUTS, BEFORE_RESULTS -> List.of("nothing; about to resume");
            case RUNNING -> List.of();
        };
    }

    private static String describe(PendingOperation.Wait wait, AxisNames names) {
        String point =
                "timeline %d to reach %d, currently %d; ".formatted(wait.semaphore(), wait.value(), wait.reached());
        if (!wait.promised()) {
            return point + "no submitted operation that can run signals it";
        }
        return wait.producerEpoch() == 0
                ? point + "promised externally"
                : point
                        + "signalled by operation %d of queue %s, which is at %d"
                                .formatted(
                                        wait.producerEpoch(),
                                        names.name(wait.producerAxis()),
                                        names.completed(wait.producerAxis()));
    }
}
